import type { ErrorCode } from '../../../src/common/errors/gateway-error.js';
import { faceOf } from '../../../src/http/profiles/faces.js';
import type { ProfileId } from '../../../src/http/profiles/profile.js';
import { type Route, RouteTable } from '../../../src/http/route-table.js';
import { expectCommonHeaders, expectError } from '../../contract/support/envelope.js';
import { FACES, newSession, PROFILES } from '../../contract/support/faces.js';
import {
  type RawAnswer,
  RawConnection,
  request,
  StillSilent,
} from '../../contract/support/raw-connection.js';
import type { TestDatabase } from '../../harness/database.js';
import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';

/** So small that a test can send more than it. */
export const MAX_BODY_BYTES = 65_536;
/** Longer than what may be echoed (64 characters), and nothing that an answer would say by itself. */
export const LONG = 'zQ'.repeat(100);
/** An answer to a wrong request takes milliseconds; whoever waits for a second waits for nothing. */
const HANG_MS = 1000;

/** Tables in which something moves without a request: who was seen when, logs, counters, leases. */
const BREATHING =
  /^(api_tokens|change_counters|session_tally|session_hours|channel_states|log_\w+|hook_lanes|rate_buckets|replicas|session_audiences)$/;

const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
};

/** A gateway that wrong requests are thrown at, and what must hold after each of them. */
export class HostileGateway {
  private before: unknown;
  private noted: unknown;
  private linesSeen = 0;
  private fingerprintSql: string | undefined;

  private constructor(
    readonly gateway: TestGateway,
    /** A live session, so that nothing is refused only because there is none. */
    readonly sessionId: string,
  ) {}

  static async start(env: Readonly<Record<string, string>> = {}): Promise<HostileGateway> {
    const gateway = await startTestGateway({
      env: {
        GATEWAY__LOGGING__LEVEL: 'debug',
        GATEWAY__LOGGING__REQUESTS: 'all',
        GATEWAY__GATEWAY__MAX_BODY_BYTES: String(MAX_BODY_BYTES),
        GATEWAY__GATEWAY__MAX_MESSAGE_BODY_BYTES: String(MAX_BODY_BYTES),
        ...env,
      },
    });
    const hostile = new HostileGateway(gateway, await newSession(gateway.a));
    await hostile.note();
    return hostile;
  }

  get authorization(): { Authorization: string } {
    return { Authorization: `Bearer ${this.gateway.token}` };
  }

  /** The API routes of a profile, each once. */
  routes(profile: ProfileId): Route[] {
    const all = this.gateway.started.app.get(RouteTable, { strict: false }).all();
    return all.filter(({ listener, path }) => listener === profile && path.startsWith('/api/v1/'));
  }

  /** Every route on the port of a profile, those of all faces too: what is beside them is unknown paths. */
  everyRoute(profile: ProfileId): Route[] {
    const all = this.gateway.started.app.get(RouteTable, { strict: false }).all();
    // A route of several paths is the metadata of an issuer, and open.
    return all.filter(({ listener, path }) => listener === profile && !/[*,]/.test(path));
  }

  /** Every path parameter replaced; without a value, by something that is there or could be. */
  target({ path }: Route, value?: string): string {
    const own = path.startsWith('/api/v1/sessions/') ? this.sessionId : 'api';
    return path.replace(/:\w+/g, value ?? own);
  }

  open(profile: ProfileId): Promise<RawConnection> {
    return RawConnection.open(this.gateway.started.ports[profile]);
  }

  /**
   * Sends these bytes on a connection of their own and takes the first answer; one that takes longer than a second hangs.
   * A machine can be as slow as that for once, so it has a second try when a sound request is answered in time again.
   */
  async send(profile: ProfileId, bytes: string | Buffer, { bodiless = false } = {}): Promise<RawAnswer> {
    try {
      return await this.exchange(profile, bytes, bodiless);
    } catch (error) {
      if (!(error instanceof StillSilent)) throw error;
      const sound = request('GET', `/api/v1${FACES[profile].health}`);
      await eventually(() => this.exchange(profile, sound, false).then(() => undefined));
      return this.exchange(profile, bytes, bodiless);
    }
  }

  private async exchange(profile: ProfileId, bytes: string | Buffer, bodiless: boolean): Promise<RawAnswer> {
    const connection = await this.open(profile);
    try {
      return await connection.send(bytes).answer({ withinMs: HANG_MS, bodiless });
    } finally {
      connection.close();
    }
  }

  /** The same, and the answer must be this refusal, as it should be. */
  async refuses(profile: ProfileId, bytes: string | Buffer, ...statuses: number[]): Promise<RawAnswer> {
    const answer = await this.send(profile, bytes);
    const sent = bytes.toString('latin1').slice(0, 300).replace(this.gateway.token, '…');
    if (!statuses.includes(answer.status))
      throw new Error(
        `Answered ${answer.status} instead of ${statuses.join(' or ')}: ${answer.text}\nto ${sent}`,
      );
    expectRefusal(profile, answer);
    return answer;
  }

  /** From here on nothing may change: what a test did itself is behind it. */
  async note(): Promise<void> {
    this.before = await this.stored();
    this.noted = await this.audited();
  }

  /** Healthy, nothing logged as an error, nothing changed in the database since the last time. For `afterEach`. */
  async expectUnharmed(): Promise<void> {
    const { gateway, before, noted } = this;
    const lines = gateway.logLines.slice(this.linesSeen);
    this.linesSeen = gateway.logLines.length;
    this.before = await this.stored();
    this.noted = await this.audited();
    for (const profile of PROFILES)
      expect((await gateway[profile].get(FACES[profile].health)).status).toBe(200);
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    expect({ stored: this.before, audit: this.noted }).toEqual({ stored: before, audit: noted });
  }

  stop(): Promise<void> {
    return this.gateway.stop();
  }

  /** The newest of what the audit holds: it says what a request changed. */
  private audited(): Promise<unknown> {
    const newest = 'SELECT action, target, outcome, details FROM audit_entries ORDER BY id DESC LIMIT 5';
    return this.gateway.database.query(newest);
  }

  /** A fingerprint of everything that callers can change. */
  private async stored(): Promise<unknown> {
    const { database } = this.gateway;
    this.fingerprintSql ??= await fingerprintSql(database);
    // The audit is sealed a moment after what it is about.
    await eventually(async () =>
      expect(await database.query('SELECT 1 FROM audit_unsealed LIMIT 1')).toEqual([]),
    );
    return database.query(this.fingerprintSql);
  }
}

async function fingerprintSql(database: TestDatabase): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  const fingerprints = tables
    .filter(({ name }) => !BREATHING.test(name))
    .map(
      ({ name }) =>
        `SELECT '${name}' AS name, md5(string_agg(t::text, ',' ORDER BY t::text)) FROM ${name} AS t`,
    )
    .join(' UNION ALL ');
  // With many tables PostgreSQL reads them in parallel, and the rows come in any order.
  return `${fingerprints} ORDER BY name`;
}

/** A refusal in the shape of the face that the path belongs to, with nothing long echoed. */
export function expectRefusalAt(profile: ProfileId, path: string, answer: RawAnswer): void {
  const face = faceOf(path);
  if (face !== 'openai') {
    expectRefusal(face === undefined ? profile : 'b', answer);
    return;
  }
  const { error } = JSON.parse(answer.text) as { error: object };
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
  expect([Math.floor(answer.status / 100), answer.text.includes(LONG.slice(0, 65))]).toEqual([4, false]);
}

/** The profile's envelope with the code of its status, every header of every answer, and no long value echoed. */
export function expectRefusal(profile: ProfileId, answer: RawAnswer): void {
  expectError(profile, answer, answer.status, CODES[answer.status] ?? 'bad_request');
  expectCommonHeaders(answer);
  const echoes = [answer.text, ...answer.headers.values()].filter((text) => text.includes(LONG.slice(0, 65)));
  expect({ kind: Math.floor(answer.status / 100), echoes }).toEqual({ kind: 4, echoes: [] });
}
