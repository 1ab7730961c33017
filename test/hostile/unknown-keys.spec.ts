import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  configEnv,
  issuerToml,
  removeConfigs,
  type SigningKey,
  signingKey,
  TestIssuer,
} from '../harness/identity.js';
import { promptly } from '../harness/promptly.js';

const LIMIT = 20;

let issuer: TestIssuer;
let foreign: SigningKey;
let gateway: TestGateway;
beforeAll(async () => {
  [issuer, foreign] = await Promise.all([TestIssuer.open(), signingKey('foreign')]);
  const env = {
    ...(await configEnv(issuerToml(issuer))),
    GATEWAY__RATE_LIMITS__SESSIONS_READ: String(LIMIT),
  };
  gateway = await startTestGateway({ env });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([issuer.close(), removeConfigs()]);
});

/** Each names a different key that the issuer does not have. */
const unknown = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, n) => issuer.sign({}, { key: { ...foreign, kid: `none-${n}` } })),
  );

test('JWTs with keys that nobody knows hold up neither new callers from their address nor those that are known', async () => {
  const known = await issuer.sign({ jti: 'known' });
  expect((await gateway.caller('b', known).get('/sessions')).status).toBe(200);
  const fresh = await gateway.mint({ name: 'fresh' });
  const [first, ...tokens] = await unknown(4 * LIMIT);
  // It makes the gateway fetch the keys; the next such fetch is ten seconds later.
  expect((await gateway.caller('b', first).get('/sessions')).status).toBe(401);
  const strangers = tokens.map((token) => gateway.caller('b', token).get('/sessions'));
  await promptly(4000, async () => {
    const askedAgain = gateway.caller('b', known).get('/sessions');
    let status = 429;
    while (status === 429) {
      const answer = await gateway.caller('b', fresh).get('/sessions');
      status = answer.status;
      if (status === 429) {
        expect(answer.headers.get('retry-after')).toBe('1');
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
    expect([status, (await askedAgain).status]).toEqual([200, 200]);
  });
  const refused = (await Promise.all(strangers)).map((answer) => answer.status);
  expect(refused.filter((one) => ![401, 429, 503].includes(one))).toEqual([]);
});

test('at most eight of them hold a place until the next fetch; the others are 503 at once, with when to come again', async () => {
  const [first, ...tokens] = await unknown(LIMIT);
  await gateway.caller('b', first).get('/sessions');
  const answers = new Map<number, { status: number; retryAfter: string | null }>();
  const all = tokens.map(async (token, n) => {
    const { status, headers } = await gateway.caller('b', token).get('/sessions');
    answers.set(n, { status, retryAfter: headers.get('retry-after') });
  });
  // A request that does not wait for keys is answered before one that comes after it.
  await gateway.caller('b', await issuer.sign({ jti: 'behind' })).get('/sessions');
  await eventually(() => expect(answers.size).toBeGreaterThanOrEqual(tokens.length - 8), 8000);
  const unavailable = [...answers.values()].filter(({ status }) => status === 503);
  expect(unavailable.length).toBeGreaterThan(0);
  for (const { retryAfter } of unavailable) {
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(Number(retryAfter)).toBeLessThanOrEqual(10);
  }
  await Promise.all(all);
});
