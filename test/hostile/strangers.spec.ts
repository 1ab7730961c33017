import { WebSocket } from 'ws';
import { TokenStore } from '../../src/platform/tokens/token.store.js';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { PROFILES } from '../contract/support/faces.js';
import { RawConnection, request } from '../contract/support/raw-connection.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const LIMIT = 20;
const STRANGERS = 600;

let gateway: TestGateway;
let lookUps: jest.SpyInstance;
beforeAll(async () => {
  gateway = await startTestGateway({
    env: {
      GATEWAY__RATE_LIMITS__SESSIONS_READ: String(LIMIT),
      GATEWAY__GATEWAY__TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  lookUps = jest.spyOn(gateway.started.app.get(TokenStore, { strict: false }), 'findUnrevokedByHash');
});
beforeEach(async () => {
  // Waits until every bucket is full again.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  lookUps.mockClear();
});
afterAll(() => gateway.stop());

const sessions = (token: string, more: Record<string, string> = {}): Buffer =>
  request('GET', '/api/v1/sessions', { Authorization: `Bearer ${token}`, ...more });

/** The limit for this time, plus one bucket. */
const allowedIn = (startedAt: number): number =>
  LIMIT + Math.ceil((LIMIT * (performance.now() - startedAt)) / 1000);

test.each(PROFILES)(
  'Profile %s: well-formed tokens of strangers are looked up no more often than their address may ask',
  async (profile) => {
    const startedAt = performance.now();
    const connection = await RawConnection.open(gateway.started.ports[profile]);
    const answers = await connection.pipelined(
      Array.from({ length: STRANGERS }, () => sessions(mintToken())),
    );
    const statuses = answers.map(({ status }) => status);
    for (const answer of answers) {
      expect(answer.headers.get('x-ratelimit-limit')).toBe(String(LIMIT));
      if (answer.status === 429) expect(answer.headers.get('retry-after')).toBe('1');
    }
    connection.close();
    expect(lookUps.mock.calls.length).toBeLessThanOrEqual(allowedIn(startedAt));
    // A caller that was looked up may still find the bucket of its tier empty.
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(lookUps.mock.calls.length);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  },
);

test('nor are they when they all come at once, each on a connection of its own', async () => {
  const startedAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: STRANGERS / 4 }, () => gateway.caller('b', mintToken()).get('/sessions')),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
  expect(lookUps.mock.calls.length).toBeLessThanOrEqual(allowedIn(startedAt));
});

test('nor for WebSockets', async () => {
  const startedAt = performance.now();
  const statuses = await Promise.all(Array.from({ length: 3 * LIMIT }, () => handshake(mintToken())));
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  expect(lookUps.mock.calls.length).toBeLessThanOrEqual(allowedIn(startedAt));
});

test('many good tokens that come for the first time, all at once and from one address, are let in', async () => {
  const tokens: string[] = [];
  for (let i = 0; i < 4 * LIMIT; i += 1) tokens.push(await gateway.mint({ name: `n${i}` }));
  const answers = await Promise.all(tokens.map((token) => gateway.caller('a', token).get('/sessions')));
  expect(answers.map(({ status }) => status)).toEqual(tokens.map(() => 200));
});

test('a token that was let in before stays so while strangers at its address are refused', async () => {
  const token = await gateway.mint();
  expect((await gateway.caller('a', token).get('/sessions')).status).toBe(200);
  await Promise.all(
    Array.from({ length: 2 * LIMIT }, () => gateway.caller('a', mintToken()).get('/sessions')),
  );
  // The table has changed, so known callers are looked up again.
  await gateway.mint({ name: 'another' });
  await new Promise((resolve) => setTimeout(resolve, 600));
  const strangers = Array.from({ length: 2 * LIMIT }, () =>
    gateway.caller('a', mintToken()).get('/sessions'),
  );
  const [answer] = await Promise.all([gateway.caller('a', token).get('/sessions'), ...strangers]);
  expect(answer.status).toBe(200);
});

test('addresses of one IPv6 /64 are one stranger, those of another are another', async () => {
  const connection = await RawConnection.open(gateway.started.ports.b);
  const from = async (...addresses: readonly string[]): Promise<readonly number[]> => {
    const asked = addresses.map((address) => sessions(mintToken(), { 'X-Forwarded-For': address }));
    return (await connection.pipelined(asked)).map(({ status }) => status);
  };
  const startedAt = performance.now();
  const same = await from(
    ...Array.from({ length: 3 * LIMIT }, (_, host) => `2001:db8:1:1::${(host + 1).toString(16)}`),
  );
  expect(same.filter((status) => status === 401).length).toBeLessThanOrEqual(allowedIn(startedAt));
  expect(await from('2001:db8:1:2::1')).toEqual([401]);
  connection.close();
});

function handshake(token: string): Promise<number> {
  const url = `ws://127.0.0.1:${gateway.started.ports.a}/ws/sessions/sess_nothing`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
}
