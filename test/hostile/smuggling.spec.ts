import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProfileId } from '../../src/http/profiles/profile.js';
import { newSession, PROFILE_DIFFERENCES, PROFILES, type Wire } from '../contract/support/faces.js';
import { RawConnection, request } from '../contract/support/raw-connection.js';
import { type Balancer, isInstalled, startNginx } from '../faults/support/balancers.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { CountingRelay } from './support/counting-relay.js';
import { expectRefusal } from './support/hostile-gateway.js';
import { type Attack, attacks, SESSIONS, SMUGGLED } from './support/smuggling.js';

/** Skipped with a message where there is no nginx. */
const ifNginx = isInstalled('nginx') ? test : test.skip;
/** nginx waits for the rest of some bodies; a smuggled request would not have to wait. */
const TIMEOUT_MS = 200;
/** What nginx logs for a request without an id. */
const NAMELESS = '-';

let gateway: TestGateway;
let folder: string;
/** Stopped at the end, even when the test that started it fails. */
const running: { stop(): void }[] = [];
beforeAll(async () => {
  gateway = await startTestGateway({
    env: { GATEWAY__LOGGING__LEVEL: 'debug', GATEWAY__LOGGING__REQUESTS: 'all' },
  });
  folder = await mkdtemp(join(tmpdir(), 'smuggling-'));
  if (!isInstalled('nginx'))
    process.stdout.write('nginx is not installed: smuggling through it is skipped\n');
});
afterAll(async () => {
  for (const one of running) one.stop();
  await gateway.stop();
  await rm(folder, { recursive: true });
});

const bearer = () => `Bearer ${gateway.token}`;

/** The ids of the requests that the gateway served, by its access log. */
function served(): string[] {
  return gateway.logLines
    .map((line) => JSON.parse(line) as Wire)
    .filter(({ module }) => module === 'gateway::access')
    .map((line) => String(line['request_id']).replace(/^req_.*/, NAMELESS));
}

async function smuggledSessions(): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM sessions WHERE user_id = $1';
  const [row] = await gateway.database.query<{ count: number }>(sql, [SMUGGLED]);
  return row?.count ?? 0;
}

describe.each(PROFILES)('straight to Profile %s', (profile) => {
  const list = attacks('Bearer x').map(({ what }, i) => [what, i] as const);

  test.each(list)(
    '%s is answered once, with 400 in the envelope, and ends the connection',
    async (_what, i) => {
      const { bytes } = attacks(bearer())[i] as Attack;
      const connection = await RawConnection.open(gateway.started.ports[profile]);
      const answer = await connection.send(bytes).answer();
      expectRefusal(profile, answer);
      expect([answer.status, answer.headers.get('connection')]).toEqual([400, 'close']);
      expect(await connection.ends(5000)).toBe(true);
      await expect(connection.answer()).rejects.toThrow('No answer before the connection ended: ""');
      connection.close();
    },
  );

  test('and none of them brought another request', async () => {
    await gateway[profile].get('/sessions', { 'x-request-id': `last-${profile}` });
    await eventually(() => expect(served()).toContain(`last-${profile}`));
    expect(served()).not.toContain(SMUGGLED);
    expect(await smuggledSessions()).toBe(0);
  });
});

/** An nginx that keeps its connections to the gateway open, and logs the requests it sees. */
async function front(profile: ProfileId, relay: CountingRelay, buffering: 'on' | 'off'): Promise<Balancer> {
  const log = join(folder, `${profile}-${buffering}.log`);
  const more = `proxy_request_buffering ${buffering}; access_log ${log} ids;`;
  return startNginx(folder, [{ port: relay.port, operationsPort: 0 }], {
    health: `/api/v1${PROFILE_DIFFERENCES[profile].health}`,
    global: `log_format ids '$http_x_request_id $upstream_addr';`,
    more,
  });
}

describe.each(PROFILES)('through nginx to Profile %s', (profile) => {
  ifNginx.each(['on', 'off'] as const)(
    'nobody gets a request through that nginx did not see, nor the answer to another one (its request buffering %s)',
    async (buffering) => {
      const relay = await CountingRelay.to(gateway.started.ports[profile]);
      running.push(relay);
      const nginx = await front(profile, relay, buffering);
      running.push(nginx);
      const port = Number(new URL(nginx.base).port);
      const victim = await newSession(gateway[profile], { user_id: 'victim' });
      const [before, smuggledBefore] = [served().length, await smuggledSessions()];
      const list = attacks(bearer());
      for (const [i, { bytes }] of list.entries()) {
        const attacker = await RawConnection.open(port);
        await attacker
          .send(bytes)
          .answer({ withinMs: TIMEOUT_MS })
          .catch(() => undefined);
        await expectOwnAnswer(port, victim, `victim-${i}`);
        attacker.close();
      }
      const seen = (): Promise<string[]> => idsIn(join(folder, `${profile}-${buffering}.log`));
      await eventually(async () => expect(notIn(served().slice(before), await seen())).toEqual([]));
      const own = (await seen()).filter((id) => id === SMUGGLED).length;
      expect((await smuggledSessions()) - smuggledBefore).toBeLessThanOrEqual(own);
      // Otherwise this would prove nothing: responses for this caller and the next must share connections.
      expect(relay.connections).toBeLessThan(list.length);
    },
    60_000,
  );
});

/** The next caller's request goes over the connection that nginx kept open. */
async function expectOwnAnswer(port: number, session: string, id: string): Promise<void> {
  const connection = await RawConnection.open(port);
  const headers = { Authorization: bearer(), 'X-Request-Id': id };
  const answer = await connection.send(request('GET', `${SESSIONS}/${session}`, headers)).answer();
  expect([answer.status, answer.headers.get('x-request-id')]).toEqual([200, id]);
  expect(Object.values(answer.body as Wire)).toContain(session);
  connection.close();
}

/** The requests that nginx saw and forwarded. */
async function idsIn(log: string): Promise<string[]> {
  const lines = (await readFile(log, 'utf8')).split('\n').map((line) => line.split(' '));
  return lines.filter(([, upstream]) => upstream !== undefined && upstream !== '-').map(([id]) => id ?? '');
}

/** Items that occur more often in the first list than in the second. */
function notIn(some: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return some.filter((one) => {
    const place = left.indexOf(one);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}
