import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  configEnv,
  issuerToml,
  removeConfigs,
  type SigningKey,
  signingKey,
  TestIssuer,
} from '../harness/identity.js';

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

/** Each names a key of its own that the issuer does not have. */
const unknown = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, n) => issuer.sign({}, { key: { ...foreign, kid: `none-${n}` } })),
  );

test('JWTs with keys that nobody knows hold up neither new callers from their address nor those that are known', async () => {
  const known = await issuer.sign({ jti: 'known' });
  expect((await gateway.caller('b', known).get('/sessions')).status).toBe(200);
  const fresh = await gateway.mint({ name: 'fresh' });
  const [first, ...tokens] = await unknown(4 * LIMIT);
  // It has the keys fetched; the next such fetch is ten seconds later.
  expect((await gateway.caller('b', first).get('/sessions')).status).toBe(401);
  const strangers = tokens.map((token) => gateway.caller('b', token).get('/sessions'));
  const since = performance.now();
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
  expect(performance.now() - since).toBeLessThan(4000);
  const refused = (await Promise.all(strangers)).map((answer) => answer.status);
  expect(refused.filter((one) => ![401, 429, 503].includes(one))).toEqual([]);
});
