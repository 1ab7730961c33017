import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  calculateJwkThumbprint,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  SignJWT,
} from 'jose';
import { signInContext } from '../../src/areas/mcp/sign-in/sign-ins.store.js';
import { SecretBox } from '../../src/platform/secrets/secret-box.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { everyRow } from '../harness/every-row.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, say, serverB } from '../harness/mcp.js';
import { decoded, expectNoSecret } from '../harness/secret-finder.js';
import { browse, SignInWorld } from '../harness/sign-in-world.js';
import { Challenged } from '../harness/token-checking-server.js';
import { type SentRequest } from '../harness/token-verifier.js';

const PUBLIC_URL = 'https://agents.example.com';
const TOKEN_SECS = 6;
const TIMEOUT_MS = 30_000;

/**
 * Authorization servers that bind tokens, want a nonce, do not bind, or bind but deny it; and a tool server without
 * DPoP.
 */
let worlds: Record<'bound' | 'nonces' | 'off' | 'denied' | 'plain', SignInWorld>;
let bench: McpBench;
let database: TestDatabase;
let gateway: TestGateway;

const http = { transport: 'http', isolation: 'shared', health_interval_ms: 600_000 };
const alone = (world: SignInWorld, more: Record<string, unknown> = {}) => ({
  ...{ ...http, url: world.server.url, oauth_issuer: world.issuerUrl, oauth_client_id: 'gateway' },
  ...{ oauth_client_secret_env: 'CLIENT_SECRET', ...more },
});
const signedIn = (world: SignInWorld, more: Record<string, unknown> = {}) => ({
  ...{ ...http, url: world.server.url, oauth_sign_in: true, oauth_scope: 'tools', ...more },
});
const start = (): Promise<TestGateway> =>
  startTestGateway({ env: { ...bench.env, CLIENT_SECRET: 'secret-of-the-gateway' }, database });

/** The nonce that the tool server of `nonces` requires in proofs. */
let nonce = 'nonce-1';
const challenge = (next: string) =>
  new Challenged({ 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': next });
function wantNonce({ headers }: SentRequest): void {
  if (decodeJwt(String(headers['dpop']))['nonce'] !== nonce) throw challenge(nonce);
}

beforeAll(async () => {
  const [bound, nonces, off, denied, plain] = await Promise.all([
    SignInWorld.open('ada', TOKEN_SECS),
    SignInWorld.open('ada', 60, { dpop: 'with nonce' }),
    SignInWorld.open('ada', 60, { dpop: 'off' }),
    SignInWorld.open('ada', 60, { dpop: 'denied' }),
    SignInWorld.open('ada'),
  ]);
  worlds = { bound, nonces, off, denied, plain };
  plain.server.challenge = 'Bearer';
  plain.check = ({ headers }) => {
    if (headers['dpop'] !== undefined) throw new Error('what is this?');
  };
  nonces.check = wantNonce;
  bench = await McpBench.make(
    {
      crm: signedIn(bound),
      public: signedIn(bound, { oauth_client_id: 'public', oauth_issuer: bound.issuerUrl }),
      auto: alone(bound, { url: `${bound.server.url}?tenant=1` }),
      always: alone(bound, { oauth_dpop: 'always' }),
      never: alone(bound, { oauth_dpop: 'never' }),
      nonces: alone(nonces),
      person: signedIn(nonces),
      off: alone(off),
      lacking: alone(off, { oauth_dpop: 'always' }),
      nobody: signedIn(off, { oauth_dpop: 'always' }),
      denied: alone(denied, { oauth_dpop: 'always' }),
      plain: alone(plain),
      bearer: signedIn(plain),
      deaf: alone(plain, { oauth_dpop: 'always' }),
    },
    `[gateway]\npublic_url = "${PUBLIC_URL}"\n`,
  );
  database = await createTestDatabase();
  gateway = await start();
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await database.drop();
  await Promise.all(Object.values(worlds).map((world) => world.close()));
  await bench.clear();
});

const connected = (name: string, at = gateway) =>
  eventually(async () => expect(await serverB(at, name)).toMatchObject({ status: 'connected' }), TIMEOUT_MS);
const callOf = async (name: string, at = gateway) =>
  (await say(at, `/call ${name}__whoami {}`)).tool_calls[0];
/** For whom the tool ran, as its server saw it. */
const whoami = async (name: string, at = gateway) => {
  const call = await callOf(name, at);
  expect([call?.status, call?.output]).toEqual(['success', call?.output]);
  return JSON.parse(call?.output ?? '') as { sub: string; cnf?: { jkt: string } };
};
async function link(name: string): Promise<string> {
  const { status, body } = await gateway.admin.post<{ url: string }>(`/mcp/servers/${name}/sign-in`, {});
  expect([status, body]).toEqual([201, body]);
  return body.url;
}
async function signIn(name: string): Promise<URLSearchParams> {
  const url = await link(name);
  const back = await browse(url, PUBLIC_URL);
  const page = await fetch(`http://127.0.0.1:${gateway.started.ports.b}${back.pathname}${back.search}`);
  expect([page.status, await page.text()]).toEqual([200, `Signed in to ${name}. You can close this page.\n`]);
  await connected(name);
  return new URL(url).searchParams;
}
const lastOf = (world: SignInWorld, method = 'tools/call') => {
  const found = world.server.calls.findLast((call) => call.method === method);
  if (found === undefined) throw new Error('There was no such call.');
  return found;
};

/** The sealed contents of the sign-in. */
interface Kept {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly information: Readonly<Record<string, string>>;
  readonly key: { readonly alg: string; readonly jwk: JWK };
}
async function keptOf(name: string): Promise<Kept> {
  const [row] = await database.query<{ sealed_tokens: string }>(
    `SELECT sealed_tokens FROM mcp_sign_ins WHERE server = '${name}'`,
  );
  const box = gateway.started.app.get(SecretBox, { strict: false });
  return JSON.parse(box.open(row?.sealed_tokens ?? '', signInContext(name, 'tokens'))) as Kept;
}
async function proofBy({ alg, jwk }: Kept['key'], htm: string, htu: string, token?: string): Promise<string> {
  const { d: _private, ...own } = jwk;
  const ath = token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') };
  return new SignJWT({ htm, htu, jti: randomUUID(), ...ath })
    .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk: own })
    .setIssuedAt()
    .sign(await importJWK(jwk, alg));
}
const strangersKey = async (): Promise<Kept['key']> => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { alg: 'ES256', jwk: await exportJWK(privateKey) };
};

test('where the authorization server can do it, a sign-in is bound to a key, and so is its link', async () => {
  const asked = await signIn('crm');
  const { cnf, sub } = await whoami('crm');
  expect(sub).toBe('ada');
  expect(cnf?.jkt).toBe(asked.get('dpop_jkt'));
  expect(lastOf(worlds.bound).headers.authorization).toMatch(/^DPoP /);
  const { key } = await keptOf('crm');
  expect(await calculateJwkThumbprint(key.jwk)).toBe(cnf?.jkt);
});

test('the token of a client is bound too: always and auto, and never with "never" or an issuer that cannot', async () => {
  for (const name of ['auto', 'always', 'never', 'off']) await connected(name);
  expect((await whoami('auto')).cnf?.jkt).toEqual(expect.any(String));
  expect((await whoami('always')).cnf?.jkt).toEqual(expect.any(String));
  expect((await whoami('never')).cnf).toBeUndefined();
  const { headers } = lastOf(worlds.bound);
  expect([headers.authorization?.slice(0, 7), headers['dpop']]).toEqual(['Bearer ', undefined]);
  expect((await whoami('off')).cnf).toBeUndefined();
  expect(lastOf(worlds.off).headers.authorization).toMatch(/^Bearer /);
});

test('each request has a proof of its own: of its method, its address without the query, and its token', async () => {
  await whoami('auto');
  const proven = worlds.bound.server.calls.filter(({ proof }) => proof !== undefined);
  const proofs = proven.map(({ proof = '' }) => decodeJwt(proof));
  expect(new Set(proofs.map(({ jti }) => jti)).size).toBe(proofs.length);
  expect(proofs.length).toBeGreaterThan(5);
  for (const [at, { htm, htu, ath, iat = 0 }] of proofs.entries()) {
    const { method, token } = proven[at] ?? { method: '', token: '' };
    expect([htm, htu]).toEqual([method === 'GET' ? 'GET' : 'POST', worlds.bound.server.url]);
    expect(ath).toBe(createHash('sha256').update(token).digest('base64url'));
    expect(Math.abs(Date.now() / 1000 - iat)).toBeLessThan(300);
  }
  const head = decodeProtectedHeader(lastOf(worlds.bound).proof ?? '');
  expect(head).toMatchObject({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty: 'EC', crv: 'P-256' } });
  expect(head.jwk).not.toHaveProperty('d');
});

test('servers have keys of their own, which do not tell that they have the same client', async () => {
  const names = ['crm', 'nonces', 'auto'];
  await connected('nonces');
  const keys: (string | undefined)[] = [];
  for (const name of names) keys.push((await whoami(name)).cnf?.jkt);
  expect(new Set(keys).size).toBe(names.length);
});

test('a token that somebody stole opens nothing without its key', async () => {
  await whoami('crm');
  const { url } = worlds.bound.server;
  const { proof: used = '' } = lastOf(worlds.bound);
  const kept = await keptOf('crm');
  const token = kept.accessToken;
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const send = async (authorization: string, dpop?: string) => {
    const headers = { authorization, ...(dpop === undefined ? {} : { dpop }) };
    return (await fetch(url, { method: 'POST', headers, body: list })).status;
  };
  const other = await strangersKey();
  expect(await send(`Bearer ${token}`)).toBe(401);
  expect(await send(`DPoP ${token}`)).toBe(401);
  expect(await send(`DPoP ${token}`, used)).toBe(401);
  expect(await send(`DPoP ${token}`, await proofBy(other, 'POST', url, token))).toBe(401);
  expect(await send(`DPoP ${token}`, await proofBy(kept.key, 'GET', url, token))).toBe(401);
  expect(await send(`DPoP ${token}`, await proofBy(kept.key, 'POST', `${url}/x`, token))).toBe(401);
  expect(await send(`DPoP ${token}`, await proofBy(kept.key, 'POST', url, 'another'))).toBe(401);
  // Accepted with everything right: each request above was refused for its own fault.
  expect(await send(`DPoP ${token}`, await proofBy(kept.key, 'POST', url, token))).toBe(200);
});

test('nor does the refresh token of a client without a secret', async () => {
  await signIn('public');
  const { refreshToken, information, key } = await keptOf('public');
  const endpoint = `${worlds.bound.issuerUrl}/token`;
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, ...information };
  const ask = async (by?: Kept['key']) => {
    const headers = by === undefined ? {} : { dpop: await proofBy(by, 'POST', endpoint) };
    const answer = await fetch(endpoint, { method: 'POST', headers, body: new URLSearchParams(form) });
    return [answer.status, ((await answer.json()) as { error?: string }).error];
  };
  expect(information).toMatchObject({ client_id: 'public' });
  expect(await ask()).toEqual([400, 'invalid_grant']);
  expect(await ask(await strangersKey())).toEqual([400, 'invalid_grant']);
  expect(await ask(key)).toEqual([200, undefined]);
});

test('a refresh, another replica and a restart go on with the key of the sign-in', async () => {
  const { cnf } = await whoami('crm');
  const refreshes = () => worlds.bound.said.filter((line) => line === 'granted refresh_token').length;
  const before = refreshes();
  const second = await start();
  try {
    await connected('crm', second);
    await new Promise((done) => setTimeout(done, (TOKEN_SECS + 1) * 1000));
    for (const at of [second, gateway]) expect((await whoami('crm', at)).cnf).toEqual(cnf);
    expect(refreshes()).toBeGreaterThan(before);
  } finally {
    await second.stop();
  }
  await gateway.stop();
  gateway = await start();
  await connected('crm');
  await new Promise((done) => setTimeout(done, (TOKEN_SECS + 1) * 1000));
  expect((await whoami('crm')).cnf).toEqual(cnf);
}, 90_000);

test('an authorization server that wants its nonce in proofs gets it, at a sign-in and from then on', async () => {
  const asked = () => worlds.nonces.said.filter((line) => line.includes('use_dpop_nonce')).length;
  const before = asked();
  await signIn('person');
  expect((await whoami('person')).sub).toBe('ada');
  expect(asked()).toBe(before + 1);
  expect(worlds.nonces.said).toContain('granted authorization_code');
});

test('a tool server that wants its nonce gets it, once for each that it gives', async () => {
  const { server } = worlds.nonces;
  for (const next of ['nonce-2', 'nonce-3']) {
    nonce = next;
    const [refused, ran] = [server.refusals.length, server.calls.length];
    await whoami('nonces');
    await whoami('nonces');
    expect(server.refusals.length - refused).toBe(1);
    const made = server.calls.slice(ran).filter(({ method }) => method === 'tools/call');
    expect(made.map(({ proof = '' }) => decodeJwt(proof)['nonce'])).toEqual([next, next]);
  }
});

test('a nonce that comes with an answer is in the next proof, and nothing is made again for it', async () => {
  const { server } = worlds.nonces;
  nonce = 'nonce-4';
  server.moreHeaders = { 'dpop-nonce': nonce };
  worlds.nonces.check = () => undefined;
  await whoami('nonces');
  server.moreHeaders = {};
  worlds.nonces.check = wantNonce;
  const refused = server.refusals.length;
  await whoami('nonces');
  expect(server.refusals).toHaveLength(refused);
});

test('one that wants another nonce each time is asked twice, no new token is got for it, and the call says why', async () => {
  const granted = () => worlds.nonces.said.filter((line) => line === 'granted client_credentials').length;
  const before = granted();
  let asked = 0;
  worlds.nonces.check = () => {
    asked += 1;
    throw challenge(randomBytes(8).toString('hex'));
  };
  const call = await callOf('nonces');
  worlds.nonces.check = wantNonce;
  expect([call?.status, call?.output]).toEqual([
    'error',
    expect.stringContaining('wants another nonce in the proof of the token each time it is asked'),
  ]);
  expect([asked, granted()]).toEqual([2, before]);
  expect((await serverB(gateway, 'nonces'))?.status).toBe('connected');
  expect((await whoami('nonces')).sub).toBe('gateway');
});

test('"always" without an authorization server that binds tokens says what to do, and asks it for none', async () => {
  const error = async (name: string) => {
    await eventually(
      async () => expect((await serverB(gateway, name))?.error).toEqual(expect.any(String)),
      TIMEOUT_MS,
    );
    return (await serverB(gateway, name))?.error;
  };
  const reason = `${worlds.off.issuerUrl} does not say that it binds tokens to keys`;
  expect(await error('lacking')).toContain(reason);
  expect(await error('lacking')).toContain('and oauth_dpop = "always" wants');
  const { status, body } = await gateway.admin.post<{ error: { message: string } }>(
    '/mcp/servers/nobody/sign-in',
    {},
  );
  expect(status).toBe(502);
  expect(body.error.message).toContain(reason);
  expect(await error('denied')).toContain('gave a token with another token_type than DPoP');
  expect(worlds.denied.server.calls).toEqual([]);
  expect((await serverB(gateway, 'lacking'))?.status).not.toBe('connected');
});

test('a tool server that asks for bearer tokens alone gets them, unless the settings want others', async () => {
  await connected('plain');
  expect((await whoami('plain')).cnf).toBeUndefined();
  expect((await signIn('bearer')).get('dpop_jkt')).toBeNull();
  expect((await whoami('bearer')).sub).toBe('ada');
  expect(worlds.plain.server.calls.every(({ headers }) => headers.authorization?.startsWith('Bearer '))).toBe(
    true,
  );
  await eventually(async () => expect((await serverB(gateway, 'deaf'))?.error).toContain('401'), TIMEOUT_MS);
});

test('with "always" a sign-in whose tokens are bound to nothing is of no use any more', async () => {
  await bench.write({ crm: signedIn(worlds.off) });
  await eventually(
    async () => expect((await serverB(gateway, 'crm'))?.error).toContain('sign-in'),
    TIMEOUT_MS,
  );
  await signIn('crm');
  expect((await whoami('crm')).cnf).toBeUndefined();
  await bench.write({ crm: signedIn(worlds.off, { oauth_dpop: 'always' }) });
  await eventually(
    async () => expect((await serverB(gateway, 'crm'))?.error).toContain('are bound to no key'),
    TIMEOUT_MS,
  );
  await bench.write({ crm: signedIn(worlds.bound, { oauth_dpop: 'always' }) });
  await eventually(async () => expect(await link('crm')).toContain('dpop_jkt='), TIMEOUT_MS);
  await signIn('crm');
  expect((await whoami('crm')).cnf?.jkt).toEqual(expect.any(String));
}, 90_000);

test('the key is nowhere but sealed: not in the log, what operators read, or the database', async () => {
  await link('crm');
  const { key, accessToken, refreshToken } = await keptOf('crm');
  const [servers, audit, config, logs] = await Promise.all([
    gateway.admin.get('/mcp/servers'),
    gateway.admin.get('/audit?limit=200'),
    gateway.a.get('/config'),
    gateway.a.get('/logs?limit=500'),
  ]);
  const rows = await everyRow(database);
  const places = {
    ...{ servers: servers.text, audit: audit.text, config: config.text, logs: logs.text },
    ...{ lines: gateway.logLines.join(''), rows, 'rows, decoded': decoded(rows) },
  };
  expectNoSecret(places, { key: String(key.jwk.d), accessToken, refreshToken });
});
