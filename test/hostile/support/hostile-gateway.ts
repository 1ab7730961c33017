import type { ErrorCode } from '../../../src/common/errors/gateway-error.js';
import { faceOf } from '../../../src/http/profiles/faces.js';
import type { ProfileId } from '../../../src/http/profiles/profile.js';
import { type Route, RouteTable } from '../../../src/http/route-table.js';
import { expectCommonHeaders, expectError } from '../../contract/support/envelope.js';
import { newSession, PROFILE_DIFFERENCES, PROFILES } from '../../contract/support/faces.js';
import {
  type RawAnswer,
  RawConnection,
  ReadTimeout,
  request,
} from '../../contract/support/raw-connection.js';
import type { TestDatabase } from '../../harness/database.js';
import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';

/** Small enough for a test to send more. */
export const MAX_BODY_BYTES = 65_536;
/** Longer than what may be echoed (64 characters), and unlikely in any response. */
export const LONG = 'zQ'.repeat(100);
/** A response to a wrong request takes milliseconds. After a second it counts as missing. */
const HANG_MS = 1000;
/** On a machine that stalls it may take longer: so many times what a valid request has just taken. */
const STALLED = 20;

/** Tables that change without requests: last use of tokens, logs, counters, leases, seals of the audit's sums. */
const CHANGES_BY_ITSELF =
  /^(api_tokens|audit_seals|change_counters|session_tally|session_hours|channel_states|log_\w+|hook_lanes|rate_buckets|replicas|session_audiences)$/;

const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
};

/** A gateway for hostile requests, and the checks that must hold after each of them. */
export class HostileGateway {
  private before: unknown;
  private noted: unknown;
  private linesSeen = 0;
  private fingerprintSql: string | undefined;

  private constructor(
    readonly gateway: TestGateway,
    /** A live session, so that no request is refused only because its session does not exist. */
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

  /** Every route on the port of a profile, including those of all faces. */
  everyRoute(profile: ProfileId): Route[] {
    const all = this.gateway.started.app.get(RouteTable, { strict: false }).all();
    // A route with several paths is an issuer's metadata, and open.
    return all.filter(({ listener, path }) => listener === profile && !/[*,]/.test(path));
  }

  /** Replaces every path parameter, by default with something that exists or could exist. */
  target({ path }: Route, value?: string): string {
    const own = path.startsWith('/api/v1/sessions/') ? this.sessionId : 'api';
    return path.replace(/:\w+/g, value ?? own);
  }

  open(profile: ProfileId): Promise<RawConnection> {
    return RawConnection.open(this.gateway.started.ports[profile]);
  }

  /**
   * Sends these bytes on a new connection and returns the first response. One that takes longer than a second counts
   * as a hang. A machine may stall, so the request gets two more tries, each after a valid request was answered, and
   * with it the time by which that was late.
   */
  async send(profile: ProfileId, bytes: string | Buffer, { bodiless = false } = {}): Promise<RawAnswer> {
    let grantedMs = 0;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.exchange(profile, bytes, { bodiless, withinMs: HANG_MS + grantedMs });
      } catch (error) {
        if (!(error instanceof ReadTimeout) || tries === 3) throw error;
        grantedMs = STALLED * (await this.soundMs(profile));
      }
    }
  }

  /** How long a valid request takes now that is answered at all. */
  private async soundMs(profile: ProfileId): Promise<number> {
    const sound = request('GET', `/api/v1${PROFILE_DIFFERENCES[profile].health}`);
    let beganAt = 0;
    await eventually(async () => {
      beganAt = performance.now();
      await this.exchange(profile, sound);
    });
    return performance.now() - beganAt;
  }

  private async exchange(
    profile: ProfileId,
    bytes: string | Buffer,
    { bodiless = false, withinMs = HANG_MS } = {},
  ): Promise<RawAnswer> {
    const connection = await this.open(profile);
    try {
      return await connection.send(bytes).answer({ withinMs, bodiless });
    } finally {
      connection.close();
    }
  }

  /** The same, and the response must be a well-formed refusal with one of these statuses. */
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

  /** Takes the state after a test's own changes. From here on nothing may change. */
  async note(): Promise<void> {
    this.before = await this.stored();
    this.noted = await this.audited();
  }

  /** Waits until accepted requests have had their effects, then notes the state. */
  async settle(): Promise<void> {
    await eventually(async () => {
      const before = JSON.stringify(await this.stored());
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect(JSON.stringify(await this.stored())).toBe(before);
    }, 20_000);
    await this.note();
  }

  /**
   * The gateway is healthy, has logged no error, and the database has not changed since the last time. For
   * `afterEach`.
   */
  async expectUnharmed(): Promise<void> {
    const { gateway, before, noted } = this;
    const lines = gateway.logLines.slice(this.linesSeen);
    this.linesSeen = gateway.logLines.length;
    this.before = await this.stored();
    this.noted = await this.audited();
    for (const profile of PROFILES)
      expect((await gateway[profile].get(PROFILE_DIFFERENCES[profile].health)).status).toBe(200);
    expect(lines.filter(isFailure)).toEqual([]);
    expect({ stored: this.before, audit: this.noted }).toEqual({ stored: before, audit: noted });
  }

  stop(): Promise<void> {
    return this.gateway.stop();
  }

  /** The newest rows of the audit: they show what a request changed. */
  private audited(): Promise<unknown> {
    return this.gateway.database.query(
      `SELECT action, target, outcome, details FROM audit_entries WHERE ${NO_SUM} ORDER BY id DESC LIMIT 5`,
    );
  }

  /** A fingerprint of everything that callers can change. */
  private async stored(): Promise<unknown> {
    const { database } = this.gateway;
    this.fingerprintSql ??= await fingerprintSql(database);
    // The audit is sealed a moment after its rows are written, and usage is summed up within a second.
    await eventually(async () =>
      expect(
        await database.query('SELECT 1 FROM audit_unsealed UNION ALL SELECT 1 FROM usage_entries LIMIT 1'),
      ).toEqual([]),
    );
    return database.query(this.fingerprintSql);
  }
}

/** A line that is an error, except for a response about a model's failure. */
const isFailure = (line: string): boolean =>
  line.includes('"level":"error"') && !/"module":"gateway::access".*"status":50[234],/.test(line);

/** From time to time the audit gets a summary of refused logins, possibly in the middle of a test. */
const NO_SUM = `action <> 'login.failed'`;

async function fingerprintSql(database: TestDatabase): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  const fingerprints = tables
    .filter(({ name }) => !CHANGES_BY_ITSELF.test(name))
    .map(
      ({ name }) =>
        `SELECT '${name}' AS name, md5(string_agg(t::text, ',' ORDER BY t::text)) FROM ${name} AS t${name === 'audit_entries' ? ` WHERE ${NO_SUM}` : ''}`,
    )
    .join(' UNION ALL ');
  // PostgreSQL reads many tables in parallel, so the rows come in any order.
  return `${fingerprints} ORDER BY name`;
}

/** A refusal in the format of the path's face, without echoing anything long. */
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

/** The profile's envelope with the code of its status, the headers of every response, and nothing long echoed. */
export function expectRefusal(profile: ProfileId, answer: RawAnswer): void {
  expectError(profile, answer, answer.status, CODES[answer.status] ?? 'bad_request');
  expectCommonHeaders(answer);
  const echoes = [answer.text, ...answer.headers.values()].filter((text) => text.includes(LONG.slice(0, 65)));
  expect({ kind: Math.floor(answer.status / 100), echoes }).toEqual({ kind: 4, echoes: [] });
}
