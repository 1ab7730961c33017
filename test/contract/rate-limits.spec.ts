import type { ProfileId } from '../../src/http/profiles/profile.js';
import { Environment } from '../../src/platform/settings/environment.js';
import { loadSettings } from '../../src/platform/settings/settings-loader.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { expectCommonHeaders, expectError, expectRateHeaders } from './support/envelope.js';
import { PROFILES } from './support/faces.js';
import { type RawAnswer, RawConnection, request } from './support/raw-connection.js';

/** The limits of an unconfigured gateway; other tests raise them. */
const DEFAULTS = loadSettings({ environment: new Environment({}) }).settings.rate_limits;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    env: Object.fromEntries(
      Object.entries(DEFAULTS).map(([tier, limit]) => [
        `GATEWAY__RATE_LIMITS__${tier.toUpperCase()}`,
        String(limit),
      ]),
    ),
  });
});
afterAll(() => gateway.stop());

/** What changes the configuration in either profile. */
const CONFIG_WRITE = { a: ['POST', '/config/reload'], b: ['PATCH', '/config'] } as const;

interface Burst {
  readonly answers: readonly RawAnswer[];
  readonly seconds: number;
}

/** Sends the same request `count` times, one after the other on one connection, faster than any bucket refills. */
async function burst(
  profile: ProfileId,
  count: number,
  method: string,
  path: string,
  token?: string,
): Promise<Burst> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const connection = await RawConnection.open(gateway.started.ports[profile]);
  const startedAt = performance.now();
  const all = Array<Buffer>(count).fill(request(method, `/api/v1${path}`, headers));
  const answers = await connection.pipelined(all);
  connection.close();
  return { answers, seconds: (performance.now() - startedAt) / 1000 };
}

const header = (answer: RawAnswer, name: string): number => Number(answer.headers.get(name));
const refusedIn = ({ answers }: Burst): readonly RawAnswer[] =>
  answers.filter(({ status }) => status === 429);

describe.each(PROFILES)('per token, Profile %s', (profile) => {
  test('each group has a bucket of its own: one that is empty leaves the others full', async () => {
    const token = await gateway.mint();
    expect(refusedIn(await burst(profile, 30, 'DELETE', '/sessions/sess_x', token)).length).toBeGreaterThan(
      0,
    );
    const [read] = (await burst(profile, 1, 'GET', '/sessions', token)).answers;
    expect([read?.status, read && header(read, 'x-ratelimit-remaining')]).toEqual([200, 49]);
    const [other] = (await burst(profile, 1, 'GET', '/skills', token)).answers;
    expect([other?.status, other && header(other, 'x-ratelimit-remaining')]).toEqual([200, 29]);
  });

  test.each([
    ['8 | Sessions (write) | 10 requests/second', 'DELETE', '/sessions/sess_x', 404, 10],
    ['8 | Sessions (read) | 50 requests/second', 'GET', '/sessions/sess_x', 404, 50],
    ['8 | Config (write) | 5 requests/second', ...CONFIG_WRITE[profile], 200, 5],
    ['8 | All other endpoints | 30 requests/second', 'GET', profile === 'a' ? '/info' : '/status', 200, 30],
    ['unknown endpoints are among all others', 'GET', '/nowhere', 404, 30],
  ] as const)('%s', async (_row, method, path, status, limit) => {
    const token = await gateway.mint();
    const sent = await burst(profile, limit * 3, method, path, token);
    const allowed = sent.answers.filter((answer) => answer.status === status);
    const refused = refusedIn(sent);
    expect(allowed.length + refused.length).toBe(limit * 3);
    expect(allowed.length).toBeGreaterThanOrEqual(limit);
    expect(allowed.length).toBeLessThanOrEqual(limit + Math.ceil(sent.seconds * limit) + 1);
    const remaining = sent.answers.map((answer) => header(answer, 'x-ratelimit-remaining'));
    expect(Math.max(...remaining)).toBe(limit - 1);
    for (const answer of sent.answers) {
      expectRateHeaders(answer);
      expect(header(answer, 'x-ratelimit-limit')).toBe(limit);
    }
    for (const answer of refused) {
      expectError(profile, answer, 429, 'rate_limited');
      expectCommonHeaders(answer);
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(header(answer, 'x-ratelimit-remaining')).toBe(0);
    }
    const [other] = (await burst(profile, 1, method, path, await gateway.mint())).answers;
    expect([other?.status, header(other!, 'x-ratelimit-remaining')]).toEqual([status, limit - 1]);
  });

  test('X-RateLimit-Reset | a Unix-time-like integer: the second at which the bucket is full again', async () => {
    const { answers } = await burst(profile, 10, 'DELETE', '/sessions/sess_x', await gateway.mint());
    const nowSecs = Date.now() / 1000;
    for (const answer of answers) {
      const reset = answer.headers.get('x-ratelimit-reset');
      expect(reset).toMatch(/^\d{10}$/);
      expect(Math.abs(Number(reset) - nowSecs)).toBeLessThan(15);
    }
    expect(header(answers.at(-1)!, 'x-ratelimit-reset')).toBeGreaterThanOrEqual(
      header(answers[0]!, 'x-ratelimit-reset'),
    );
  });

  test('after Retry-After seconds a request is allowed again', async () => {
    const token = await gateway.mint();
    const [refused] = refusedIn(await burst(profile, 20, 'DELETE', '/sessions/sess_x', token));
    const waitMs = Number(refused?.headers.get('retry-after')) * 1000;
    expect(waitMs).toBe(1000);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const [answer] = (await burst(profile, 1, 'DELETE', '/sessions/sess_x', token)).answers;
    expect(answer?.status).toBe(404);
  });

  test('headers are on all responses: 200, 201, 204, 400, 401, 403, 404, 405, 415', async () => {
    const caller = gateway.caller(profile, await gateway.mint());
    const created = await caller.post<Record<string, string>>('/sessions', {});
    const id = created.body['session_id'] ?? created.body['id'];
    const limited = gateway.caller(profile, await gateway.mint({ scopes: ['logs:read'] }));
    const answers = [
      await caller.get('/sessions'),
      created,
      await caller.delete(`/sessions/${id}`),
      await caller.post('/sessions', { channel: 1 }),
      await gateway.caller(profile, undefined).get('/sessions'),
      await limited.get('/sessions'),
      await caller.get('/sessions/sess_x'),
      await caller.send('PUT', '/sessions'),
      await caller.send('POST', '/sessions', { raw: 'x', headers: { 'content-type': 'text/plain' } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 204, 400, 401, 403, 404, 405, 415]);
    for (const answer of answers) expectRateHeaders(answer);
  });

  test('429 comes before 403, and a body is not read for either', async () => {
    const token = await gateway.mint({ scopes: ['sessions:read'] });
    const sent = await burst(profile, 30, 'POST', '/sessions', token);
    const statuses = new Set(sent.answers.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([403, 429]);
  });
});

test('changing and reloading are counted alike: config (write) is the tier of what changes the configuration', async () => {
  const token = await gateway.mint({ scopes: ['sessions:read'] });
  const reload = (await burst('a', 1, 'POST', '/config/reload', token)).answers[0];
  const patch = (await burst('b', 1, 'PATCH', '/config', token)).answers[0];
  for (const answer of [reload, patch]) {
    expect(answer?.status).toBe(403);
    expect(header(answer!, 'x-ratelimit-limit')).toBe(5);
  }
});

test('a token has one bucket for both profiles', async () => {
  const token = await gateway.mint();
  await burst('a', 20, 'DELETE', '/sessions/sess_x', token);
  expect(refusedIn(await burst('b', 10, 'DELETE', '/sessions/sess_x', token)).length).toBeGreaterThan(0);
});

test('whoever has no valid token is charged by address, and costs no token anything', async () => {
  const token = await gateway.mint();
  const strangers = await burst('b', 120, 'GET', '/nowhere');
  const refused = refusedIn(strangers);
  expect(strangers.answers[0]?.status).toBe(401);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) expectError('b', answer, 429, 'rate_limited');
  const [known] = (await burst('b', 1, 'GET', '/nowhere', token)).answers;
  expect([known?.status, header(known!, 'x-ratelimit-remaining')]).toEqual([404, 29]);
});

test('what is no HTTP request is charged by address as well, and 429 when there is too much of it', async () => {
  const statuses = new Set<number>();
  for (let i = 0; i < 90; i++) {
    const connection = await RawConnection.open(gateway.started.ports.a);
    const answer = await connection.send('no request at all\r\n\r\n').answer();
    expectCommonHeaders(answer);
    statuses.add(answer.status);
    connection.close();
  }
  expect([...statuses].sort()).toEqual([400, 429]);
});

test('an open path is charged by address', async () => {
  const sent = await burst('b', 90, 'GET', '/status/health');
  expect(refusedIn(sent).length).toBeGreaterThan(0);
  for (const answer of sent.answers) expectRateHeaders(answer);
});
