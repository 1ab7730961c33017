import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type JWTPayload } from 'jose';
import { eventually } from '../harness/eventually.js';
import { freePort } from '../harness/free-port.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, say, serverB } from '../harness/mcp.js';
import { TokenCheckingServer } from '../harness/token-checking-server.js';
import { TokenVerifier, tokenOf } from '../harness/token-verifier.js';

/** Longer than the issuer's tokens live. */
const EXPIRED_MS = 5500;

let bench: McpBench;
let gateway: TestGateway;
let issuer: ChildProcess;
let issuerUrl: string;
let server: TokenCheckingServer;
let said = '';
/** Tokens that the server no longer accepts. */
const revoked = new Set<string>();

beforeAll(async () => {
  bench = await McpBench.make({});
  const port = await freePort();
  issuerUrl = `http://127.0.0.1:${port}`;
  const keys = join(bench.folder, 'keys-url');
  issuer = spawn(process.execPath, [resolve('test/harness/exchange-issuer.mjs'), String(port), keys], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  issuer.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await eventually(() => expect(said).toContain('ready'), 20_000);
  server = await TokenCheckingServer.start((audience) => {
    const verifier = new TokenVerifier(issuerUrl, audience);
    return async (request) => {
      if (revoked.has(tokenOf(request))) throw new Error('revoked');
      return verifier.verify(request);
    };
  }, issuerUrl);
  await bench.write({
    crm: {
      ...{ transport: 'http', url: server.url, identity: 'exchange', health_interval_ms: 60_000 },
      ...{ oauth_issuer: issuerUrl, oauth_client_id: 'gateway', oauth_client_secret_env: 'CRM_SECRET' },
      oauth_scope: 'tools',
    },
  });
  gateway = await startTestGateway({ env: { ...bench.env, CRM_SECRET: 'secret-of-the-gateway' } });
  await writeFile(keys, `http://127.0.0.1:${gateway.started.ports.b}/.well-known/jwks.json`);
  await eventually(
    async () => expect(await serverB(gateway, 'crm')).toMatchObject({ status: 'connected' }),
    30_000,
  );
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await server.stop();
  issuer.kill();
  await bench.clear();
});

const callFor = async (user: string) =>
  (await say(gateway, '/call crm__whoami {}', { user_id: user })).tool_calls[0];
const whoami = async (user: string) => {
  const call = await callFor(user);
  expect([call?.status, call?.output]).toEqual(['success', call?.output]);
  return JSON.parse(call?.output ?? '') as JWTPayload;
};
/** How often the issuer was asked for a token of this user. */
const exchanges = (user: string) => said.split('\n').filter((line) => line === user).length;

test('the assertion is exchanged at oauth_issuer for a token of the user, which is kept until it expires', async () => {
  const first = await whoami('ada');
  expect(first).toMatchObject({ sub: 'ada', iss: issuerUrl });
  expect((await whoami('ada')).jti).toBe(first.jti);
  expect(exchanges('ada')).toBe(1);
  await new Promise((done) => setTimeout(done, EXPIRED_MS));
  expect((await whoami('ada')).jti).not.toBe(first.jti);
  expect(exchanges('ada')).toBe(2);
});

test('each user has a token of their own, and the tools were listed with that of the client', async () => {
  const users = ['bob', 'carl', 'dora'];
  expect((await Promise.all(users.map(whoami))).map(({ sub }) => sub)).toEqual(users);
  const list = server.calls.find(({ method }) => method === 'tools/list');
  expect(list?.claims.sub).toBe('gateway');
});

test('when the issuer refuses, the call fails with what it said, and that of nobody else', async () => {
  const refused = await callFor('mallory');
  expect(refused?.status).toBe('error');
  expect(refused?.output).toContain('this person has left the company');
  expect((await whoami('bob')).sub).toBe('bob');
  expect((await serverB(gateway, 'crm'))?.status).toBe('connected');
});

test('a kept token that the server refuses is exchanged anew, once', async () => {
  await whoami('eve');
  const { token } = server.calls.findLast(({ claims }) => claims.sub === 'eve') ?? { token: '' };
  revoked.add(token);
  expect((await whoami('eve')).sub).toBe('eve');
  expect(exchanges('eve')).toBe(2);
});

test('the tokens of all users, and that of the client, are bound to one key, which this issuer can do', async () => {
  const bound = server.calls.map(({ claims }) => (claims['cnf'] as { jkt?: string } | undefined)?.jkt);
  expect(bound.length).toBeGreaterThan(10);
  expect([...new Set(bound)]).toEqual([expect.any(String)]);
});

test('neither assertions nor tokens of users are in the log', () => {
  const tokens = server.calls.map(({ token }) => token);
  for (const line of gateway.logLines) for (const token of tokens) expect(line).not.toContain(token);
});
