import { createHmac, randomBytes } from 'node:crypto';
import { RefusalLog } from '../../src/http/access-log/refusal-log.js';
import { Database } from '../../src/platform/database/database.js';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { figure } from '../harness/figure.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  configEnv,
  issuerToml,
  removeConfigs,
  type SigningKey,
  signingKey,
  TestIssuer,
} from '../harness/identity.js';
import { leastRatio } from './support/least-ratio.js';

jest.setTimeout(300_000);

/** So low that a flood is beyond it, as any flood is beyond the usual one. */
const LIMIT = 20;
const FLOOD = 1500;
/** Addresses that the log and the audit sum up one by one (docs/audit.md). */
const SUMMED = 1000;
/** How much longer a good caller waits beside wrong tokens than beside good ones. */
const MAX_RATIO = 3;

let issuer: TestIssuer;
/** Says that it is the key of the issuer. */
let forger: SigningKey;
let database: TestDatabase;
let gateway: TestGateway;
let statements: jest.SpyInstance;
beforeAll(async () => {
  issuer = await TestIssuer.open();
  [forger, database] = await Promise.all([signingKey(issuer.key.kid), createTestDatabase()]);
  gateway = await startTestGateway({
    database,
    env: {
      ...(await configEnv(issuerToml(issuer))),
      ...{
        GATEWAY__RATE_LIMITS__SESSIONS_READ: String(LIMIT),
        GATEWAY__GATEWAY__TRUSTED_PROXIES: '127.0.0.1',
      },
    },
  });
  statements = jest.spyOn(Database.prototype, 'query');
  expect((await ask(gateway.token)).status).toBe(200);
  expect((await ask(await issuer.sign())).status).toBe(200);
});
afterAll(async () => {
  await gateway.stop();
  statements.mockRestore();
  await Promise.all([issuer.close(), database.drop(), removeConfigs()]);
});

/** Behind a proxy that names the caller. */
async function ask(
  token: string,
  from = '192.0.2.1',
  path = '/api/v1/sessions?limit=1',
): Promise<{ status: number; ms: number }> {
  const startedAt = performance.now();
  const response = await fetch(new URL(path, gateway.b.base), {
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': from },
  });
  await response.arrayBuffer();
  return { status: response.status, ms: performance.now() - startedAt };
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const random = (): string => randomBytes(9).toString('hex');

/** Every kind of wrong token, each different from all others. */
const WRONG: Readonly<Record<string, () => string | Promise<string>>> = {
  'well-formed tokens of nobody': mintToken,
  'what is no token at all': () => `x${random()}`,
  'JWTs with a signature of somebody else': () => issuer.sign({ jti: random() }, { key: forger }),
  'JWTs whose signature is noise': async () => {
    const [head, payload] = (await issuer.sign({ jti: random() })).split('.');
    return `${head}.${payload}.${randomBytes(256).toString('base64url')}`;
  },
  'JWTs without a signature': () =>
    `${base64({ alg: 'none', typ: 'JWT' })}.${base64({ iss: issuer.url, sub: random() })}.`,
  'JWTs signed with the public key as a password': () => {
    const text = `${base64({ alg: 'HS256', kid: issuer.key.kid })}.${base64({ iss: issuer.url, sub: random() })}`;
    return `${text}.${createHmac('sha256', JSON.stringify(issuer.key.jwk)).update(text).digest('base64url')}`;
  },
  'JWTs that ended long ago': () => issuer.sign({ jti: random(), iat: 1, exp: 2 }),
  'JWTs of 8 KB': () =>
    issuer.sign({ jti: random(), groups: Array.from({ length: 200 }, () => random()) }, { key: forger }),
};

const make = (kind: string, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, async () => (await WRONG[kind]?.()) ?? ''));
const median = (times: readonly number[]): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;

/** Beside the shared limits, whose one statement at a time charges all who wait for it. */
const asked = (): number =>
  (statements.mock.calls as [{ name: string }][]).filter(([{ name }]) => name !== 'rate_limits.consume')
    .length;

/** What is asked of the database when nobody asks the gateway, in a second. */
async function quiet(): Promise<number> {
  statements.mockClear();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  return asked() / 1.5;
}

describe.each(Object.keys(WRONG))('a flood of %s from one address', (kind) => {
  test('asks the database no more often than the address may, and leaves one or two lines', async () => {
    const before = await quiet();
    const tokens = await make(kind, FLOOD / 10);
    const address = `198.51.100.${Object.keys(WRONG).indexOf(kind) + 1}`;
    const lines = gateway.logLines.length;
    statements.mockClear();
    const startedAt = performance.now();
    const seen = new Set<number>();
    await severalAtOnce(tokens, async (token) => seen.add((await ask(token, address)).status));
    const secs = (performance.now() - startedAt) / 1000;
    expect([...seen].filter((status) => status !== 401 && status !== 429)).toEqual([]);
    // Each look-up may be one statement, and the usual ones go on.
    const allowed = LIMIT + LIMIT * secs + 2 * before * secs + 10;
    expect(asked()).toBeLessThanOrEqual(allowed);
    const said = gateway.logLines.slice(lines).filter((line) => line.includes(address));
    expect(said.length).toBeLessThanOrEqual(2);
  });
});

/** How long good callers wait, median, while so many at a time do something else. */
async function waiting(flood: (n: number) => Promise<unknown>): Promise<number> {
  let isOver = false;
  let count = 0;
  const floods = Array.from({ length: 6 }, async () => {
    while (!isOver) {
      count += 1;
      await flood(count);
    }
  });
  const times: number[] = [];
  for (let n = 0; n < 25; n += 1) times.push((await ask(gateway.token, '192.0.2.1', '/api/v1/hooks')).ms);
  isOver = true;
  await Promise.all(floods);
  return median(times);
}

test('beside a flood of any wrong tokens a good caller waits hardly longer than beside as many good ones', async () => {
  const good = await gateway.mint({ name: 'busy' });
  // What they get is refused too, for its rate, so that both answers are as long.
  const beside = () => waiting(() => ask(good, '192.0.2.9'));
  const ratios: Record<string, number> = {};
  let least = Number.POSITIVE_INFINITY;
  /** The same for all kinds: the more often it is measured, the less of it is other work. */
  const usual = async () => {
    least = Math.min(least, await beside());
    return least;
  };
  for (let warming = 0; warming < 3; warming += 1) await usual();
  for (const kind of Object.keys(WRONG)) {
    const tokens = await make(kind, 1000);
    const wrong = () => waiting((n) => ask(tokens[n % tokens.length] ?? '', '203.0.113.1'));
    ratios[kind] = Math.round(100 * (await leastRatio(wrong, usual, MAX_RATIO, 1))) / 100;
  }
  figure(['bad-input'], { 'token floods': ratios });
  for (const [kind, ratio] of Object.entries(ratios)) expect([kind, ratio < MAX_RATIO]).toEqual([kind, true]);
});

test('from very many addresses it leaves a line for each of the first, and one for all others; the audit as many rows', async () => {
  // Ends the minute of the tests before.
  await gateway.started.app.get(RefusalLog, { strict: false }).onModuleDestroy();
  const earlier = (await failedLogins()).length;
  const [lines, startedAt] = [gateway.logLines.length, performance.now()];
  const tokens = await make('well-formed tokens of nobody', FLOOD);
  await severalAtOnce(
    tokens.map((token, n) => ({ token, from: `2001:db8:${n.toString(16)}::1` })),
    async ({ token, from }) => expect((await ask(token, from)).status).toBe(401),
  );
  expect((await ask(gateway.token)).status).toBe(200);
  const said = (): number =>
    gateway.logLines.slice(lines).filter((line) => line.includes('gateway::refusals')).length;
  const minutes = 1 + Math.floor((performance.now() - startedAt) / 60_000);
  expect(said()).toBeLessThanOrEqual(SUMMED * minutes);
  expect(said()).toBeGreaterThan(SUMMED / 2);
  // The sums are written at the latest when the gateway stops.
  await gateway.stop();
  const rows = (await failedLogins()).slice(earlier);
  expect(rows.length).toBeLessThanOrEqual((SUMMED + 1) * minutes);
  const sum = rows.reduce((all, { count }) => all + Number(count), 0);
  expect(sum).toBeGreaterThanOrEqual(FLOOD);
});

/** In the order in which they were noted. */
function failedLogins(): Promise<{ target: string; count: string }[]> {
  return database.query(
    `SELECT target, details ->> 'count' AS count FROM audit_entries WHERE action = 'login.failed' ORDER BY id`,
  );
}
