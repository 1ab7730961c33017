import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type JWTPayload } from 'jose';
import { AssertionIssuer } from '../harness/assertion-issuer.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { signingKey, TestIssuer } from '../harness/identity.js';
import { McpBench, say, serverB } from '../harness/mcp.js';
import { type TokenCheckingServer } from '../harness/token-checking-server.js';

/** Longer than the issuer's tokens live. */
const EXPIRED_MS = 5500;
const ACCOUNT = 'system:serviceaccount:agents:gateway';

let bench: McpBench;
let gateway: TestGateway;
/** Signs the tokens of service accounts. */
let platform: TestIssuer;
let issuer: AssertionIssuer;
let server: TokenCheckingServer;
let file: string;
const written: string[] = [];

/** Replaces the file at once, as a platform does. */
async function project(token: string): Promise<void> {
  written.push(token);
  await writeFile(`${file}.new`, `${token}\n`);
  await rename(`${file}.new`, file);
}
const account = (claims: Record<string, unknown> = {}) =>
  platform.sign({ sub: ACCOUNT, aud: issuer.url, ...claims });

beforeAll(async () => {
  [bench, platform] = await Promise.all([McpBench.make({}), TestIssuer.open()]);
  file = join(bench.folder, 'token');
  issuer = await AssertionIssuer.start(bench.folder, { [platform.url]: `${platform.url}/keys` });
  server = await issuer.server();
  await project(await account());
  await bench.write({
    fleet: {
      ...{ transport: 'http', url: server.url, health_interval_ms: 60_000, oauth_issuer: issuer.url },
      ...{ oauth_workload_token_file: file, oauth_client_id: 'workload', oauth_scope: 'tools' },
    },
  });
  gateway = await startTestGateway({ env: bench.env });
  await eventually(
    async () => expect(await serverB(gateway, 'fleet')).toMatchObject({ status: 'connected' }),
    30_000,
  );
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await server.stop();
  issuer.stop();
  await Promise.all([platform.close(), bench.clear()]);
});

const callFor = async (user: string) =>
  (await say(gateway, '/call fleet__whoami {}', { user_id: user })).tool_calls[0];
const whoami = async (user: string) => {
  const call = await callFor(user);
  expect([call?.status, call?.output]).toEqual(['success', call?.output]);
  return JSON.parse(call?.output ?? '') as JWTPayload;
};
const expired = () => new Promise((done) => setTimeout(done, EXPIRED_MS));

test('the token of the platform becomes one access token for all connections, got anew before it ends', async () => {
  await expired();
  const before = issuer.grants(ACCOUNT).length;
  const [first, second] = [await whoami('ada'), await whoami('bob')];
  expect(first).toMatchObject({ sub: ACCOUNT, iss: issuer.url, client_id: 'workload' });
  expect(second.jti).toBe(first.jti);
  expect(issuer.grants(ACCOUNT)).toHaveLength(before + 1);
  await expired();
  expect((await whoami('ada')).jti).not.toBe(first.jti);
});

test('the file is read again when a token is needed', async () => {
  const next = `${ACCOUNT}-2`;
  await project(await account({ sub: next }));
  await expired();
  expect((await whoami('ada')).sub).toBe(next);
  await project(await account());
  await expired();
  expect((await whoami('ada')).sub).toBe(ACCOUNT);
});

test('a kept token that the server refuses is replaced once, and not with each request', async () => {
  await whoami('ada');
  issuer.revoked.add(server.calls.at(-1)?.token ?? '');
  const before = issuer.grants(ACCOUNT).length;
  expect((await whoami('ada')).sub).toBe(ACCOUNT);
  expect(issuer.grants(ACCOUNT)).toHaveLength(before + 1);
  issuer.refusesAll = true;
  for (const user of ['ada', 'bob', 'carl', 'dora']) expect((await callFor(user))?.status).toBe('error');
  issuer.refusesAll = false;
  expect(issuer.grants(ACCOUNT).length).toBeLessThanOrEqual(before + 2);
  await eventually(async () => expect((await whoami('ada')).sub).toBe(ACCOUNT), 60_000);
}, 90_000);

test.each<[string, () => Promise<void>, string]>([
  ['that is gone', () => rm(file), '(oauth_workload_token_file) cannot be read: '],
  ['with something else in it', () => project('hunter2 is no token'), 'holds no JSON Web Token'],
  [
    'that the platform did not renew',
    async () => project(await account({ exp: 1e9 })),
    'and was not renewed',
  ],
])(
  'a file %s fails the calls, tells operators why, and costs no connection',
  async (_what, spoil, reason) => {
    await spoil();
    await expired();
    const call = await callFor('ada');
    expect([call?.status, call?.output]).toEqual([
      'error',
      expect.stringContaining("the gateway's credentials for it cannot be read"),
    ]);
    expect(call?.output).not.toContain(file);
    expect(gateway.logLines.some((line) => line.includes(reason))).toBe(true);
    await project(await account());
    await eventually(async () => expect((await whoami('ada')).sub).toBe(ACCOUNT), 30_000);
  },
);

test.each<[string, () => Promise<string>, string]>([
  [
    'for another audience',
    () => account({ aud: 'https://wrong.example' }),
    'unexpected \\"aud\\" claim value',
  ],
  [
    'for an account that it does not take',
    () => account({ sub: `${ACCOUNT}:banned` }),
    'nobody of this name',
  ],
  [
    'that somebody else signed',
    async () => platform.sign({ sub: ACCOUNT, aud: issuer.url }, { key: await signingKey('other') }),
    'no applicable key',
  ],
])('a token %s: the call says which step failed and what the issuer said', async (_what, make, reason) => {
  await project(await make());
  await expired();
  const call = await callFor('ada');
  expect(call?.status).toBe('error');
  expect(call?.output).toContain(`${issuer.url} did not take the token of the platform`);
  expect(JSON.stringify(call?.output)).toContain(reason);
  await project(await account());
  await eventually(async () => expect((await whoami('ada')).sub).toBe(ACCOUNT), 30_000);
});

test('the tokens are bound to a key, which this issuer can do, and each request proves it', () => {
  const bound = server.calls.map(({ claims }) => (claims['cnf'] as { jkt?: string } | undefined)?.jkt);
  expect(bound.length).toBeGreaterThan(5);
  expect([...new Set(bound)]).toEqual([expect.any(String)]);
});

test('neither the tokens of the platform nor those that they became are in the log', () => {
  const tokens = [...written.filter((text) => text.includes('.')), ...server.calls.map(({ token }) => token)];
  for (const line of gateway.logLines) for (const token of tokens) expect(line).not.toContain(token);
});
