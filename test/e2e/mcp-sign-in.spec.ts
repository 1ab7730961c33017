import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, say, serverB } from '../harness/mcp.js';
import { browse, SignInWorld } from '../harness/sign-in-world.js';

/** Where browsers reach the gateway. The test replaces it with the gateway's port. */
const PUBLIC_URL = 'https://agents.example.com';
const TOKEN_SECS = 6;
const TIMEOUT_MS = 30_000;

let world: SignInWorld;
let bench: McpBench;
let database: TestDatabase;
let gateway: TestGateway;

const settings = (more: Record<string, unknown> = {}) => ({
  crm: {
    ...{ transport: 'http', url: world.server.url, oauth_sign_in: true, health_interval_ms: 1000 },
    ...{ isolation: 'shared', ...more },
  },
  other: { transport: 'http', url: world.server.url, token_env: 'OTHER_TOKEN' },
});
const start = (): Promise<TestGateway> =>
  startTestGateway({ env: { ...bench.env, OTHER_TOKEN: 'other' }, database });

beforeAll(async () => {
  world = await SignInWorld.open('ada', TOKEN_SECS);
  bench = await McpBench.make({}, `[gateway]\npublic_url = "${PUBLIC_URL}"\n`);
  await bench.write(settings({ oauth_scope: 'tools' }));
  database = await createTestDatabase();
  gateway = await start();
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await database.drop();
  await world.close();
  await bench.clear();
});

interface Link {
  readonly url: string;
  readonly scope: string | null;
  readonly issuer: string;
  readonly expires_at: string;
}
const path = (name = 'crm') => `/mcp/servers/${name}/sign-in`;
const link = async (): Promise<Link> => {
  const { status, body } = await gateway.admin.post<Link>(path(), {});
  expect([status, body]).toEqual([201, body]);
  return body;
};

/** The browser opens the gateway's page to which it was redirected. */
async function comeBack(
  back: URL,
  to = gateway,
): Promise<{ status: number; text: string; headers: Headers }> {
  const own = `http://127.0.0.1:${to.started.ports.b}${back.pathname}${back.search}`;
  const response = await fetch(own);
  return { status: response.status, text: await response.text(), headers: response.headers };
}
const signIn = async () => comeBack(await browse((await link()).url, PUBLIC_URL));

interface ServerState {
  readonly name: string;
  readonly status: string;
  readonly error: string | null;
  readonly sign_in: string;
  readonly signed_in_by: string | null;
  readonly signed_in_at: string | null;
}
const stateOf = async (name = 'crm'): Promise<ServerState | undefined> => {
  const { body } = await gateway.admin.get<{ items: ServerState[] }>('/mcp/servers');
  return body.items.find((one) => one.name === name);
};
const isConnected = (at = gateway) =>
  eventually(async () => expect(await serverB(at, 'crm')).toMatchObject({ status: 'connected' }), TIMEOUT_MS);
const isDown = (at = gateway) =>
  eventually(
    async () =>
      expect(await serverB(at, 'crm')).toMatchObject({
        status: 'disconnected',
        error: expect.any(String) as string,
      }),
    TIMEOUT_MS,
  );
const whoami = async (at = gateway) => {
  const { tool_calls: calls } = await say(at, '/call crm__whoami {}');
  return calls[0];
};
const refreshes = () => world.said.filter((line) => line === 'granted refresh_token').length;
const audited = async (action: string) =>
  (await gateway.admin.get<{ items: object[] }>(`/audit?action=${action}`)).body.items;

test('until somebody signs in the server is disconnected, and says how; others are not concerned', async () => {
  await isDown();
  const state = await stateOf();
  expect(state?.error).toContain('agent-gateway mcp sign-in crm');
  expect(state).toMatchObject({ sign_in: 'needed', signed_in_by: null, signed_in_at: null });
  expect((await stateOf('other'))?.sign_in).toBe('none');
  await eventually(async () => expect((await serverB(gateway, 'other'))?.status).toBe('connected'));
  expect(world.said.filter((line) => line.startsWith('registered'))).toEqual([]);
});

test('who may only write to tool servers gets no link, nor does a server that has no sign-in or is unknown', async () => {
  const writer = gateway.adminCaller(
    await gateway.mint({ name: 'writer', scopes: ['mcp:write', 'mcp:read'] }),
  );
  expect((await writer.post(path(), {})).status).toBe(403);
  expect((await writer.delete(path())).status).toBe(403);
  expect((await gateway.admin.post(path('other'), {})).status).toBe(409);
  expect((await gateway.admin.post(path('nobody'), {})).status).toBe(404);
  expect((await gateway.admin.delete(path('nobody'))).status).toBe(404);
});

test('an operator opens the link, signs in, and calls have the rights of whoever signed in', async () => {
  const { url, issuer: from, expires_at: until } = await link();
  const asked = new URL(url).searchParams;
  expect(from).toBe(world.issuerUrl);
  expect(asked.get('code_challenge_method')).toBe('S256');
  expect(asked.get('resource')).toBe(world.server.url);
  expect(asked.get('scope')).toBe('tools offline_access');
  expect(asked.get('redirect_uri')).toBe(`${PUBLIC_URL}/admin/v1/mcp/sign-in/crm/callback`);
  expect(Date.parse(until) - Date.now()).toBeGreaterThan(500_000);
  const back = await browse(url, PUBLIC_URL);
  const page = await comeBack(back);
  expect([page.status, page.text]).toEqual([200, 'Signed in to crm. You can close this page.\n']);
  expect(page.headers.get('content-type')).toContain('text/plain');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  await isConnected();
  expect(JSON.parse((await whoami())?.output ?? '')).toMatchObject({ sub: 'ada' });
  expect(await stateOf()).toMatchObject({ sign_in: 'signed_in', signed_in_by: 'test' });
  expect(await audited('mcp.signed_in')).toMatchObject([
    { actor: 'test', subject: 'crm', result: 'success', details: { issuer: world.issuerUrl } },
  ]);
  // A link works once.
  expect((await comeBack(back)).status).toBe(400);
});

test('what no link led to is refused, and changes nothing', async () => {
  const before = await database.query('SELECT * FROM mcp_sign_ins');
  for (const query of [
    '',
    '?state=',
    '?code=1',
    '?state=guessed&code=1',
    '?state=a&state=b',
    `?state=${'x'.repeat(6000)}`,
  ])
    expect((await comeBack(new URL(`${PUBLIC_URL}/admin/v1/mcp/sign-in/crm/callback${query}`))).status).toBe(
      400,
    );
  expect(await database.query('SELECT * FROM mcp_sign_ins')).toEqual(before);
});

test('the document of a client is there for servers with a sign-in, and no other server is told of', async () => {
  const own = await comeBack(new URL(`${PUBLIC_URL}/admin/v1/mcp/sign-in/crm/client.json`));
  expect(own.status).toBe(200);
  expect(JSON.parse(own.text)).toMatchObject({
    client_id: `${PUBLIC_URL}/admin/v1/mcp/sign-in/crm/client.json`,
    redirect_uris: [`${PUBLIC_URL}/admin/v1/mcp/sign-in/crm/callback`],
  });
  const [other, nobody] = await Promise.all(
    ['other', 'nobody'].map((name) =>
      comeBack(new URL(`${PUBLIC_URL}/admin/v1/mcp/sign-in/${name}/client.json`)),
    ),
  );
  expect([other?.status, other?.text]).toEqual([404, nobody?.text]);
  const way = await comeBack(new URL(`${PUBLIC_URL}/admin/v1/mcp/sign-in/nobody/callback?state=1`));
  expect(way.status).toBe(404);
});

test('a code that came with the name of another issuer is not redeemed (RFC 9207)', async () => {
  const granted = world.said.filter((line) => line === 'granted authorization_code').length;
  const back = await browse((await link()).url, PUBLIC_URL);
  back.searchParams.set('iss', 'https://evil.example.com');
  const { status, text } = await comeBack(back);
  expect(status).toBe(400);
  expect(text).toContain('Issuer mismatch');
  expect(world.said.filter((line) => line === 'granted authorization_code')).toHaveLength(granted);
  expect(await audited('mcp.signed_in')).toMatchObject([
    { result: 'failure', actor: 'test' },
    { result: 'success' },
  ]);
});

test('a person who declines is told so, and the tokens of before stay', async () => {
  const back = await browse((await link()).url, PUBLIC_URL);
  back.searchParams.delete('code');
  back.searchParams.set('error', 'access_denied');
  back.searchParams.set('error_description', '<b>no</b>');
  const { status, text, headers } = await comeBack(back);
  expect([status, headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8']);
  expect(text).toContain('access_denied');
  expect(JSON.parse((await whoami())?.output ?? '')).toMatchObject({ sub: 'ada' });
});

test('tokens are refreshed once for all replicas that need them at once, also after a restart', async () => {
  const second = await start();
  try {
    await isConnected(second);
    const before = refreshes();
    await new Promise((done) => setTimeout(done, (TOKEN_SECS + 1) * 1000));
    const atFirst = refreshes();
    const beganAt = performance.now();
    const calls = await Promise.all([gateway, second, gateway, second, second, gateway].map(whoami));
    // On a slow machine the calls may take longer than a token lives.
    const lives = Math.floor((performance.now() - beganAt) / ((TOKEN_SECS - 2) * 1000));
    for (const call of calls) {
      expect(call?.status).toBe('success');
      expect(JSON.parse(call?.output ?? '')).toMatchObject({ sub: 'ada' });
    }
    expect(refreshes()).toBeGreaterThan(before);
    expect(refreshes()).toBeLessThanOrEqual(atFirst + 1 + lives);
    expect(world.said.filter((line) => line.startsWith('refused'))).toEqual([]);
  } finally {
    await second.stop();
  }
});

test('a token that the server refuses before its end is refreshed, and the call made again', async () => {
  // First an ordinary refresh: a token that has just replaced a refused one is not replaced again at once.
  const earlier = refreshes();
  await eventually(() => expect(refreshes()).toBeGreaterThan(earlier), TIMEOUT_MS);
  await whoami();
  const { token = '' } = world.server.calls.findLast(({ claims }) => claims.sub === 'ada') ?? {};
  world.revoked.add(token);
  const calls = await Promise.all([1, 2, 3].map(() => whoami()));
  for (const call of calls) expect(call?.status).toBe('success');
  const { token: next = '' } = world.server.calls.findLast(({ claims }) => claims.sub === 'ada') ?? {};
  expect(next).not.toBe(token);
  // A server that refuses every token does not cause refresh after refresh.
  const before = refreshes();
  const refused = world.server.refusals.length;
  world.refusesAll = true;
  await Promise.all([1, 2, 3].map(() => whoami()));
  await eventually(() => expect(world.server.refusals.length - refused).toBeGreaterThan(5), TIMEOUT_MS);
  expect((await serverB(gateway, 'crm'))?.status).not.toBe('connected');
  expect(refreshes() - before).toBeLessThanOrEqual(2);
  world.refusesAll = false;
  await isConnected();
}, 60_000);

test('a server that wants more rights does not widen what the settings say; an operator does', async () => {
  world.neededScope = 'admin';
  const refused = await whoami();
  expect(refused?.status).toBe('error');
  expect(refused?.output).toContain('wants more rights for this (scope admin)');
  expect(refused?.output).toContain('adds them to its oauth_scope');
  expect((await serverB(gateway, 'crm'))?.status).toBe('connected');
  expect((await link()).scope).toBe('tools offline_access');
  await bench.write(settings({ oauth_scope: 'tools admin' }));
  await eventually(async () => expect((await link()).scope).toBe('tools admin offline_access'), TIMEOUT_MS);
  await isConnected();
  expect((await signIn()).text).toBe('Signed in to crm. You can close this page.\n');
  expect((await whoami())?.status).toBe('success');
  world.neededScope = undefined;
});

test('without oauth_scope the next sign-in asks for what the server wanted, beside what was granted', async () => {
  await bench.write(settings());
  await isConnected();
  world.neededScope = 'more';
  await eventually(
    async () => expect((await whoami())?.output).toContain('(scope more). An operator grants'),
    TIMEOUT_MS,
  );
  expect((await link()).scope?.split(' ').sort()).toEqual(['admin', 'more', 'offline_access', 'tools']);
  world.neededScope = undefined;
});

test('a browser that comes back to the page of another server is not let in', async () => {
  const back = await browse((await link()).url, PUBLIC_URL);
  back.pathname = back.pathname.replace('/crm/', '/other/');
  const { status, text } = await comeBack(back);
  expect(status).toBe(400);
  expect(text).toContain('the sign-in to another server');
});

test('an authorization server that is out of order takes the calls, not the connection; it goes on by itself', async () => {
  world.breakOrMendIssuer();
  await eventually(() => expect(world.said.at(-1)).toBe('broken'));
  await new Promise((done) => setTimeout(done, (TOKEN_SECS + 1) * 1000));
  const failed = await whoami();
  expect(failed?.status).toBe('error');
  expect(failed?.output).toContain('cannot get a token');
  // Failed health checks do not end the connection either.
  await new Promise((done) => setTimeout(done, 3000));
  expect((await serverB(gateway, 'crm'))?.status).toBe('connected');
  world.breakOrMendIssuer();
  await eventually(async () => expect((await whoami())?.status).toBe('success'), TIMEOUT_MS);
  expect(JSON.parse((await whoami())?.output ?? '')).toMatchObject({ sub: 'ada' });
}, 60_000);

describe('while new tokens cannot be stored', () => {
  beforeEach(async () => {
    await database.query(`CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN RAISE EXCEPTION 'connection lost' USING ERRCODE = '08006'; END$$`);
    await database.query(`CREATE TRIGGER break_off BEFORE UPDATE ON mcp_sign_ins FOR EACH ROW
      WHEN (NEW.tokens_version > OLD.tokens_version) EXECUTE FUNCTION break_off()`);
  });
  const mend = () => database.query('DROP FUNCTION IF EXISTS break_off CASCADE');
  afterEach(mend);
  const version = async () => {
    const [row] = await database.query<{ tokens_version: number }>('SELECT tokens_version FROM mcp_sign_ins');
    return row?.tokens_version ?? 0;
  };

  test('refreshed ones are used all the same, and stored when that is possible again', async () => {
    const [before, refreshed] = [await version(), refreshes()];
    await eventually(() => expect(refreshes()).toBeGreaterThan(refreshed), TIMEOUT_MS);
    expect((await whoami())?.status).toBe('success');
    expect(await version()).toBe(before);
    await mend();
    await eventually(async () => expect(await version()).toBeGreaterThan(before), TIMEOUT_MS);
    await new Promise((done) => setTimeout(done, (TOKEN_SECS + 1) * 1000));
    expect((await whoami())?.status).toBe('success');
    expect(world.said.filter((line) => line.startsWith('refused invalid_grant'))).toEqual([]);
  }, 60_000);

  test('a sign-in fails with 503, and the one of before goes on', async () => {
    const { status, text } = await signIn();
    expect([status, text]).toEqual([503, expect.stringContaining('could not keep this sign-in')]);
    await mend();
    const refreshed = refreshes();
    await eventually(() => expect(refreshes()).toBeGreaterThan(refreshed), TIMEOUT_MS);
    expect((await whoami())?.status).toBe('success');
  }, 60_000);
});

test('tokens that the authorization server takes no longer are lost: somebody signs in again', async () => {
  await world.stopIssuer();
  // An issuer that has forgotten everything.
  await world.startIssuer('bob');
  await isDown();
  const { sign_in: signedIn, error } = (await stateOf()) ?? {};
  expect(signedIn).toBe('needed');
  expect(error).toContain('agent-gateway mcp sign-in crm');
  expect(await audited('mcp.sign_in_lost')).toMatchObject([{ subject: 'crm', result: 'failure' }]);
  // That server has also forgotten the registration, so the gateway registers again.
  expect((await signIn()).status).toBe(200);
  await isConnected();
  expect(JSON.parse((await whoami())?.output ?? '')).toMatchObject({ sub: 'bob' });
}, 60_000);

test('signing in and out is noticed by the other replicas, and signing out revokes the tokens', async () => {
  await bench.write(settings({ oauth_scope: 'tools' }));
  const second = await start();
  try {
    await Promise.all([isConnected(gateway), isConnected(second)]);
    expect((await gateway.admin.delete(path())).status).toBe(204);
    await Promise.all([isDown(gateway), isDown(second)]);
    await eventually(() => expect(world.said).toContain('destroyed refresh_token'));
    expect((await whoami(second))?.status ?? 'gone').not.toBe('success');
    expect((await comeBack(await browse((await link()).url, PUBLIC_URL), second)).status).toBe(200);
    await Promise.all([isConnected(gateway), isConnected(second)]);
    expect(await audited('mcp.signed_out')).toMatchObject([{ actor: 'test', subject: 'crm' }]);
  } finally {
    await second.stop();
  }
}, 60_000);

test('with other settings the tokens are sent nowhere, and only the issuer that they name is asked', async () => {
  await bench.write(settings({ oauth_issuer: 'https://login.example.com', oauth_scope: 'tools' }));
  await isDown();
  expect((await stateOf())?.error).toContain('is another since the last sign-in');
  const registered = world.said.filter((line) => line.startsWith('registered')).length;
  const { status, body } = await gateway.admin.post<{ error: { message: string } }>(path(), {});
  expect(status).toBe(502);
  expect(body.error.message).toContain(
    `is ${world.issuerUrl}, and its oauth_issuer says https://login.example.com`,
  );
  expect(world.said.filter((line) => line.startsWith('registered'))).toHaveLength(registered);
}, 60_000);

test('neither tokens nor codes are in the log, and in the database they are sealed', async () => {
  const rows = JSON.stringify(await database.query('SELECT * FROM mcp_sign_ins'));
  for (const { token } of world.server.calls.filter(({ claims }) => claims.sub !== 'other')) {
    expect(rows).not.toContain(token);
    for (const line of gateway.logLines) expect(line).not.toContain(token);
  }
  for (const line of gateway.logLines) expect(line).not.toMatch(/[?&](code|state)=/);
});
