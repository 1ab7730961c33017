import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { Assertions } from '../../src/areas/assertions/assertions.service.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool, McpBench, say, scripted, serverB } from '../harness/mcp.js';
import { TokenCheckingServer, type VerifyRequest } from '../harness/token-checking-server.js';

const ISSUER = 'https://gateway.example.com';

let bench: McpBench;
let gateway: TestGateway;
let other: TestGateway;
let plain: TokenCheckingServer;
let named: TokenCheckingServer;
/** Assertions seen so far: each is valid for one request. */
const seen = new Set<string>();

const root = (profile: 'a' | 'b', from = gateway) => `http://127.0.0.1:${from.started.ports[profile]}`;
/**
 * Written like any tool server: the library fetches the keys from the gateway, and the server remembers what it has
 * seen.
 */
const verifier =
  (header: string): ((url: string) => VerifyRequest) =>
  (audience) =>
  async (request) => {
    const value = String(request.headers[header] ?? '');
    const token = header === 'authorization' ? value.replace(/^Bearer /, '') : value;
    const keys = createRemoteJWKSet(new URL(`${root('b')}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(token, keys, {
      issuer: ISSUER,
      audience,
      algorithms: ['EdDSA'],
      maxTokenAge: 65,
      requiredClaims: ['sub', 'exp', 'iat', 'jti'],
    });
    const { jti = '' } = payload;
    if (seen.has(jti)) throw new Error('replayed');
    seen.add(jti);
    return { claims: payload, token };
  };

beforeAll(async () => {
  plain = await TokenCheckingServer.start(verifier('authorization'));
  named = await TokenCheckingServer.start(verifier('x-on-behalf-of'));
  const http = { transport: 'http', identity: 'assertion', health_interval_ms: 500 };
  bench = await McpBench.make({
    crm: { ...http, url: plain.url },
    erp: { ...http, url: named.url, identity_header: 'X-On-Behalf-Of', isolation: 'shared' },
    told: scripted(`told-${process.pid}`, 'fine'),
  });
  const env = { ...bench.env, GATEWAY__GATEWAY__PUBLIC_URL: ISSUER };
  gateway = await startTestGateway({ env });
  for (const name of ['crm', 'erp'])
    await eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'), 20_000);
  // A server that could not fetch the keys while the gateway was starting is connected again.
  for (const { refusals } of [plain, named]) refusals.length = 0;
  other = await startTestGateway({ env, database: gateway.database });
});
afterAll(async () => {
  await other.stop();
  await gateway.stop();
  await plain.stop();
  await named.stop();
  await bench.clear();
});

async function whoami(
  server: string,
  session: Record<string, unknown>,
  from: Pick<TestGateway, 'a'> = gateway,
) {
  const [call] = (await say(from, `/call ${server}__whoami {}`, session)).tool_calls;
  expect([call?.status, call?.output]).toEqual(['success', call?.output]);
  // The response hides the server's URL, because it may contain a secret.
  const { jti } = JSON.parse(call?.output ?? '') as JWTPayload;
  const made = [...plain.calls, ...named.calls].find(({ claims }) => claims.jti === jti);
  if (made === undefined) throw new Error('The server was not called with it.');
  return made.claims as JWTPayload & Record<string, unknown>;
}

test('an assertion has iss, sub, aud (the URL of the server), session_id, agent, channel and jti, and lives 60 s', async () => {
  const claims = await whoami('crm', { user_id: 'ada' });
  expect(claims).toEqual({
    iss: ISSUER,
    sub: 'ada',
    aud: plain.url,
    session_id: expect.stringMatching(/^sess_/) as string,
    agent: 'default',
    channel: 'api',
    jti: expect.any(String) as string,
    iat: expect.any(Number) as number,
    exp: (claims.iat ?? 0) + 60,
  });
});

test('every request carries one of its own: the server refuses replays and has refused nothing', () => {
  expect(plain.refusals).toEqual([]);
  expect(plain.calls.map(({ method }) => method)).toEqual(
    expect.arrayContaining(['initialize', 'tools/list', 'tools/call']),
  );
});

test('the server refuses an assertion that it has seen, and one for another server', async () => {
  const { token } = plain.calls.at(-1) ?? { token: '' };
  const send = async (server: TokenCheckingServer, headers: Record<string, string>) =>
    (await fetch(server.url, { method: 'POST', headers, body: '{"id":1,"method":"ping"}' })).status;
  expect(await send(plain, { authorization: `Bearer ${token}` })).toBe(401);
  expect(await send(named, { 'x-on-behalf-of': token })).toBe(401);
  expect(plain.refusals.splice(0)).toHaveLength(1);
  expect(named.refusals.splice(0)).toHaveLength(1);
});

test('in the header that identity_header names it stands alone, and one connection serves many users', async () => {
  const connections = () => named.calls.filter(({ method }) => method === 'initialize').length;
  const before = connections();
  expect((await whoami('erp', { user_id: 'ada' })).sub).toBe('ada');
  expect((await whoami('erp', { user_id: 'bob' })).sub).toBe('bob');
  expect(connections()).toBe(before);
  expect(named.refusals).toEqual([]);
});

test('the gateway vouches for nobody whom it does not know: others are token:<name>', async () => {
  const scopes = ['sessions:read', 'sessions:write'] as const;
  const stranger = { a: gateway.caller('a', await gateway.mint({ name: 'stranger', scopes })) };
  expect((await whoami('crm', { user_id: 'ada' }, stranger)).sub).toBe('token:stranger');
  const bound = { a: gateway.caller('a', await gateway.mint({ name: 'x', scopes, user: 'ada' })) };
  expect((await whoami('crm', {}, bound)).sub).toBe('ada');
});

test('what lists the tools acts for the gateway itself, under a name that no user has', () => {
  const [list] = plain.calls.filter(({ method }) => method === 'tools/list');
  expect(list?.claims.sub).toBe(`${ISSUER}|gateway`);
  expect(list?.claims).not.toHaveProperty('session_id');
});

test('all replicas sign with the same key, published without a token on both ports; nothing of it is private', async () => {
  const sets = await Promise.all(
    [root('a'), root('b'), root('a', other), root('b', other)].map(async (base) => {
      const answer = await fetch(`${base}/.well-known/jwks.json`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
      return (await answer.json()) as { keys: Record<string, unknown>[] };
    }),
  );
  for (const set of sets) expect(set).toEqual(sets[0]);
  expect(sets[0]?.keys).toEqual([
    {
      kty: 'OKP',
      crv: 'Ed25519',
      x: expect.any(String) as string,
      kid: expect.any(String) as string,
      alg: 'EdDSA',
      use: 'sig',
    },
  ]);
  const rows = await gateway.database.query<{ sealed_key: string }>('SELECT sealed_key FROM assertion_keys');
  expect(rows.map((row) => row.sealed_key.split(':')[0])).toEqual(['agw1']);
  await eventually(async () => expect((await serverB(other, 'crm'))?.status).toBe('connected'), 20_000);
  expect((await whoami('crm', { user_id: 'eve' }, other)).sub).toBe('eve');
  expect(plain.refusals).toEqual([]);
});

test('a stdio server is told in the _meta of the call', async () => {
  await eventually(async () => expect((await serverB(gateway, 'told'))?.status).toBe('connected'), 20_000);
  const call = await callTool(gateway, 'told__meta', {});
  expect(JSON.parse(call.output)).toMatchObject({
    user_id: 'test',
    session_id: expect.stringMatching(/^sess_/) as string,
    agent: 'default',
  });
});

test('keys are rotated without a gap: the next one is published a day before it signs, the last one a day after', async () => {
  const kids = async () =>
    (await gateway.started.app.get(Assertions, { strict: false }).publicKeys()).map(({ kid }) => kid);
  const signing = async () => {
    const { jti } = await whoami('crm', { user_id: 'ada' });
    const { token } = plain.calls.findLast(({ claims }) => claims.jti === jti) ?? { token: '' };
    return (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string })
      .kid;
  };
  /** Time passes, and every replica checks, as it does once a minute. */
  const later = async (interval: string) => {
    await gateway.database.query(`UPDATE assertion_keys SET signs_at = signs_at - interval '${interval}'`);
    await Promise.all(
      [gateway, other].map((one) => one.started.app.get(Assertions, { strict: false })['load']()),
    );
    await gateway.started.app.get(Assertions, { strict: false })['load']();
  };
  const [first] = await kids();
  await later('29 days 1 hour');
  const [, second, ...more] = await kids();
  expect([second === undefined, more]).toEqual([false, []]);
  expect(await signing()).toBe(first);
  await later('25 hours');
  expect(await kids()).toEqual([first, second]);
  expect(await signing()).toBe(second);
  await later('29 days');
  expect(await kids()).toEqual([second, expect.any(String)]);
  expect(await signing()).toBe(second);
  expect(plain.refusals).toEqual([]);
});
