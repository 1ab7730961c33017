import { Viewers } from '../../src/areas/live/live.api.js';
import { ExposedTools } from '../../src/areas/mcp-server/exposed-tools.service.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { CuttingProxy } from '../harness/cutting-proxy.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { configEnv, issuerToml, removeConfigs, TestIssuer } from '../harness/identity.js';
import { McpCaller } from '../harness/mcp-client.js';
import { answerWith, openAiWire } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, providerEnv } from '../harness/turn-stream.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let provider: ScriptedProvider;
let issuer: TestIssuer;
let one: TestGateway;
let two: TestGateway;
const callers: McpCaller[] = [];
const proxies: CuttingProxy[] = [];

beforeAll(async () => {
  [database, provider, issuer] = await Promise.all([
    createTestDatabase(),
    startScriptedProvider(),
    TestIssuer.open(),
  ]);
  const agents =
    '[agents.support]\ndescription = "Answers customers"\n[agents.board]\nusers = ["role:staff"]\n';
  const env = { ...(await configEnv(`${agents}${issuerToml(issuer)}`)), ...providerEnv(provider) };
  one = await startTestGateway({ database, env: { ...env, GATEWAY__MCP_SERVER__EXPOSE_TOOLS: 'true' } });
  two = await startTestGateway({ database, env });
});
afterEach(async () => {
  await Promise.all(callers.splice(0).map((caller) => caller.close()));
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await Promise.all([provider.stop(), issuer.close(), removeConfigs()]);
  await database.drop();
});

type Mode = 'auto' | 'legacy';
const MODES: readonly Mode[] = ['auto', 'legacy'];

async function connect(at: string, mode: Mode, token = one.token): Promise<McpCaller> {
  const caller = await McpCaller.connect(at, token, { mode });
  callers.push(caller);
  return caller;
}

const running = async (): Promise<number> =>
  Number(
    (await database.query<{ count: string }>(`SELECT count(*) FROM turns WHERE status = 'running'`))[0]
      ?.count,
  );

let forgetWiping: () => void = () => undefined;
afterEach(() => forgetWiping());
/** A tool that counts its calls, and that a person must allow. */
async function wiping(ask: readonly string[] = ['wipe']) {
  let times = 0;
  forgetWiping = one.tools.register({
    name: 'wipe',
    description: 'Wipes the table',
    inputSchema: { type: 'object' },
    run: () => {
      times += 1;
      return Promise.resolve('wiped');
    },
  });
  expect((await one.b.patch('/config', { tools: { approval: { ask } } })).status).toBe(200);
  return { times: () => times };
}
const openApprovals = async () =>
  (await one.admin.get<{ items: { id: string }[] }>('/approvals?status=pending')).body.items;

describe.each(MODES)('the official client, negotiating %s', (mode) => {
  test('tools `ask_<agent>` (`message`, `session_id?` → text and structured content with the session), on both replicas', async () => {
    provider.script(answerWith(openAiWire, 'Hello there.'));
    const here = await connect(one.a.base, mode);
    const first = await here.call('ask_support', { message: 'Hello' });
    expect(first).toMatchObject({ text: 'Hello there.', isError: false });
    const there = await connect(two.b.base, mode);
    const second = await there.call('ask_support', { message: 'And again', session_id: first.session });
    expect(second).toMatchObject({ text: 'Hello there.', session: first.session });
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toMatch(/Hello.*Hello there.*And again/s);
    const { body } = await one.b.get<{ agent: string }>(`/sessions/${first.session}`);
    expect(body).toMatchObject({ agent: 'support' });
  });

  test('Progress notifications while the answer is made', async () => {
    const held = heldAnswer();
    provider.script(held.script);
    const seen: string[] = [];
    const caller = await connect(one.b.base, mode);
    const answer = caller.call(
      'ask_support',
      { message: 'Slowly' },
      { onprogress: ({ message }) => seen.push(message ?? '') },
    );
    await eventually(() => expect(provider.requests).toHaveLength(1));
    held.say('First words');
    await eventually(() => expect(seen).toEqual(['First words']));
    held.finish();
    expect((await answer).text).toBe('First words');
  });

  test('a call that is cancelled ends its turn, wherever it runs', async () => {
    const held = heldAnswer();
    provider.script(held.script);
    const proxy = new CuttingProxy([Number(new URL(one.b.base).port), Number(new URL(two.b.base).port)], []);
    proxies.push(proxy);
    const caller = await connect(mode === 'legacy' ? await proxy.listen() : one.b.base, mode);
    const gone = new AbortController();
    const answer = caller.call('ask_support', { message: 'Never mind' }, { signal: gone.signal });
    await eventually(() => expect(provider.requests).toHaveLength(1));
    held.say('Well');
    gone.abort();
    await expect(answer).rejects.toThrow();
    await eventually(() => expect(held.isCut()).toBe(true));
    await eventually(async () => expect(await running()).toBe(0));
  });

  test('refuses what a caller gets wrong as a result that says so', async () => {
    const caller = await connect(one.a.base, mode);
    expect(await caller.call('ask_support', { message: ' ' })).toMatchObject({ isError: true });
    expect(await caller.call('ask_support', { message: 'x', more: 1 })).toMatchObject({
      isError: true,
      text: expect.stringContaining('more: is not known') as string,
    });
    const lost = await caller.call('ask_support', { message: 'x', session_id: 'sess_nowhere' });
    expect(lost).toMatchObject({ isError: true, text: 'There is no such session.' });
    await expect(caller.call('ask_nobody', { message: 'x' })).rejects.toThrow(
      'There is no tool "ask_nobody"',
    );
  });

  test('agents and bound callers: others are neither shown nor asked, and foreign sessions not found', async () => {
    provider.script(answerWith(openAiWire, 'Mine.'));
    const narrow = await one.mint({ agents: ['support'], user: 'ada' });
    const ada = await connect(one.b.base, mode, narrow);
    expect((await ada.tools()).filter((name) => name.startsWith('ask_'))).toEqual(['ask_support']);
    const { session } = await ada.call('ask_support', { message: 'Hello' });
    const bob = await connect(two.b.base, mode, await one.mint({ user: 'bob' }));
    const stolen = await bob.call('ask_support', { message: 'x', session_id: session });
    expect(stolen).toMatchObject({ isError: true, text: 'There is no such session.' });
    expect(await ada.call('ask_default', { message: 'x' })).toMatchObject({ isError: true });
    const all = await (await connect(one.b.base, mode)).tools();
    expect(all).toEqual(expect.arrayContaining(['ask_default', 'ask_support']));
    expect(all).not.toContain('ask_board');
    const admin = await connect(one.b.base, mode, await issuer.sign({ groups: ['staff'] }));
    expect(await admin.tools()).toContain('ask_board');
  });

  test("with `mcp_server.expose_tools = true` the gateway's own allowed tools, under the caller's policy", async () => {
    const forget = one.tools.register({
      name: 'reverse',
      description: 'Turns a text around',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      run: ({ text }) => Promise.resolve([...String(text)].reverse().join('')),
    });
    try {
      const caller = await connect(one.b.base, mode);
      expect(await caller.tools()).toContain('reverse');
      expect(await caller.call('reverse', { text: 'abc' })).toMatchObject({ text: 'cba', isError: false });
      expect(await caller.call('reverse', {})).toMatchObject({ isError: true });
      expect(await (await connect(two.b.base, mode)).tools()).not.toContain('memory_store');
      const rules = { tools: { tokens: { narrow: { deny: ['reverse'] } } } };
      expect((await one.b.patch('/config', rules)).status).toBe(200);
      const denied = await connect(one.b.base, mode, await one.mint({ name: 'narrow' }));
      expect(await denied.tools()).not.toContain('reverse');
      await expect(denied.call('reverse', { text: 'abc' })).rejects.toThrow('There is no tool "reverse"');
    } finally {
      forget();
    }
  });

  test('a call of such a tool ends with the token that made it, and what a person allows then is not run', async () => {
    const wiped = await wiping();
    const caller = await connect(one.b.base, mode, await one.mint({ name: `leaver-${mode}` }));
    const answer = caller.call('wipe', {});
    await eventually(async () => expect(await openApprovals()).toHaveLength(1));
    const [approval] = await openApprovals();
    await one.started.app.get(TokensService, { strict: false }).revoke(`leaver-${mode}`);
    expect(await answer).toMatchObject({
      isError: true,
      text: expect.stringMatching(/token ended/) as string,
    });
    const late = await one.admin.post(`/approvals/${approval?.id}/decision`, { decision: 'allow' });
    expect(late.status).toBeGreaterThanOrEqual(400);
    expect([wiped.times(), await openApprovals()]).toEqual([0, []]);
  });
});

test('the token is looked at once more before a tool of the gateway is run', async () => {
  const wiped = await wiping([]);
  const caller = {
    tokenId: 'tok_x',
    tokenName: 'x',
    familyId: 'x',
    scopes: ['*' as const],
    boundUserId: null,
  };
  const exposed = one.started.app.get(ExposedTools, { strict: false });
  const call = (isGood: boolean) =>
    exposed.call(
      ...(['wipe', {}] as const),
      { caller, key: undefined, mayGoOn: () => Promise.resolve(isGood) },
      new AbortController().signal,
    );
  expect(await call(false)).toMatchObject({ isError: true });
  expect(wiped.times()).toBe(0);
  expect(await call(true)).toEqual({ content: [{ type: 'text', text: 'wiped' }] });
  expect(wiped.times()).toBe(1);
});

test('a client that is cut again before anything was sent to it comes back once more', async () => {
  const held = heldAnswer();
  provider.script(held.script);
  const proxy = new CuttingProxy([Number(new URL(one.b.base).port)], []);
  proxies.push(proxy);
  const caller = await connect(await proxy.listen(), 'legacy');
  const answer = caller.call('ask_support', { message: 'Hold on again' });
  await eventually(() => expect(provider.requests).toHaveLength(1));
  const viewers = one.started.app.get(Viewers, { strict: false });
  for (let cut = 1; cut <= 2; cut += 1) {
    await eventually(() => expect(viewers.count).toBe(1));
    proxy.cutAll();
    await eventually(() => expect(viewers.count).toBe(0));
  }
  await eventually(() => expect(viewers.count).toBe(1));
  held.say('Here.');
  held.finish();
  expect(await answer).toMatchObject({ text: 'Here.', isError: false });
  expect(provider.requests).toHaveLength(1);
});

test('a call whose stream is cut goes on at another replica, and asks the model once', async () => {
  const held = heldAnswer();
  provider.script(held.script);
  const ports = [one, one, two, two, two, two].map(({ b }) => Number(new URL(b.base).port));
  const proxy = new CuttingProxy(ports, []);
  proxies.push(proxy);
  const caller = await connect(await proxy.listen(), 'legacy');
  const answer = caller.call('ask_support', { message: 'Hold on' });
  await eventually(() => expect(provider.requests).toHaveLength(1));
  held.say('Still ');
  proxy.cutAll();
  held.say('here.');
  held.finish();
  expect(await answer).toMatchObject({ text: 'Still here.', isError: false });
  expect(provider.requests).toHaveLength(1);
});

test('a replica that stops sends the client to another one, where the call goes on', async () => {
  const third = await startTestGateway({
    database,
    env: { ...providerEnv(provider), GATEWAY__GATEWAY__DRAIN_TIMEOUT_MS: '500', ...(await supportEnv()) },
  });
  const held = heldAnswer();
  provider.script(held.script, answerWith(openAiWire, 'Done elsewhere.'));
  const [from, to] = [third, two].map(({ b }) => Number(new URL(b.base).port)) as [number, number];
  const proxy = new CuttingProxy([from], []);
  proxies.push(proxy);
  const caller = await connect(await proxy.listen(), 'legacy');
  const answer = caller.call('ask_support', { message: 'Hold on' });
  await eventually(() => expect(provider.requests).toHaveLength(1));
  proxy.goTo([to]);
  await third.stop();
  expect(await answer).toMatchObject({ text: 'Done elsewhere.', isError: false });
});

async function supportEnv(): Promise<Record<string, string>> {
  return configEnv('[agents.support]\n');
}

describe('the endpoint', () => {
  const send = (headers: Record<string, string>, body: unknown, method = 'POST'): Promise<Response> =>
    fetch(new URL('/mcp', one.a.base), {
      method,
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...headers,
      },
      ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const bearer = (token = one.token) => ({ authorization: `Bearer ${token}` });
  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  test('OAuth protected-resource metadata when JWT is configured: a 401 leads to it', async () => {
    const refused = await send({}, LIST);
    expect(refused.status).toBe(401);
    const url = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1];
    const found = (await (await fetch(url ?? '')).json()) as Record<string, unknown>;
    expect(found).toMatchObject({
      resource: new URL('/mcp', one.a.base).href,
      authorization_servers: [issuer.url],
    });
    const elsewhere = await one.caller('a', undefined).get('/sessions');
    expect(elsewhere.headers.get('www-authenticate')).not.toContain('resource_metadata');
  });

  test('a foreign `Origin` on `/mcp` is 403, and one that cors_origins names is not', async () => {
    expect((await send({ ...bearer(), origin: 'https://evil.example' }, LIST)).status).toBe(403);
    expect((await send({ ...bearer(), origin: 'null' }, LIST)).status).toBe(403);
    expect((await send({ ...bearer(), origin: new URL(one.a.base).origin }, LIST)).status).toBe(200);
    const named = { 'gateway.cors_origins': ['https://chat.example'] };
    expect((await one.b.patch('/config', named)).status).toBe(200);
    expect((await send({ ...bearer(), origin: 'https://chat.example' }, LIST)).status).toBe(200);
  });

  test('needs sessions:write, a body within its limit, and JSON-RPC', async () => {
    const reader = await one.mint({ scopes: ['sessions:read'] });
    expect((await send(bearer(reader), LIST)).status).toBe(403);
    expect((await send(bearer(), `{"a":"${'x'.repeat(1_100_000)}"}`)).status).toBe(413);
    expect((await send(bearer(), '[]')).status).toBe(400);
    expect((await send(bearer(), '{"jsonrpc":"2.0"')).status).toBe(400);
    expect((await send(bearer(), { jsonrpc: '1.0', id: 1, method: 'tools/list' })).status).toBe(400);
    expect((await send({ ...bearer(), 'content-type': 'text/plain' }, LIST)).status).toBe(415);
    expect((await send(bearer(), '', 'GET')).status).toBe(405);
    expect((await send(bearer(), '', 'DELETE')).status).toBe(405);
    const bad = { ...bearer(), accept: 'text/event-stream', 'mcp-session-id': 'x' };
    expect((await send({ ...bad, 'last-event-id': '!!' }, '', 'GET')).status).toBe(400);
    const madeUp = Buffer.from('[1,null]').toString('base64url');
    expect((await send({ ...bad, 'last-event-id': `${madeUp}.0` }, '', 'GET')).status).toBe(404);
  });

  test('refuses an id, or a progress token, that would come back with every message of its call', async () => {
    const params = { name: 'ask_support', arguments: { message: 'x' } };
    const long = 'x'.repeat(257);
    const asked = provider.requests.length;
    for (const headers of [bearer(), { ...bearer(), 'mcp-session-id': 'x' }])
      for (const [what, call] of [
        ['id', { id: long, params }],
        ['progressToken', { id: 1, params: { ...params, _meta: { progressToken: long } } }],
      ] as const) {
        const refused = await send(headers, { jsonrpc: '2.0', method: 'tools/call', ...call });
        const error = { code: -32_600, message: `${what} may have at most 256 characters.` };
        expect([refused.status, await refused.json()]).toEqual([400, { jsonrpc: '2.0', id: null, error }]);
      }
    expect(provider.requests).toHaveLength(asked);
    // An object that cannot become text.
    for (const id of [{ toString: 1, valueOf: 1 }, [long], null])
      expect((await send(bearer(), { jsonrpc: '2.0', id, method: 'tools/list' })).status).toBe(400);
    const fits = { jsonrpc: '2.0', id: 'x'.repeat(256), method: 'tools/list' };
    expect((await send(bearer(), fits)).status).toBe(200);
  });

  test('the same Idempotency-Key gets the answer of the first call', async () => {
    provider.script(answerWith(openAiWire, 'Once.'));
    const params = { name: 'ask_support', arguments: { message: 'Once' } };
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params };
    const key = { ...bearer(), 'idempotency-key': 'mcp-once' };
    const [first, second] = [await (await send(key, call)).text(), await (await send(key, call)).text()];
    expect(first).toContain('Once.');
    expect(second).toBe(first);
    expect(provider.requests).toHaveLength(1);
    expect((await send(key, { ...call, id: 8 })).status).toBe(409);
  });
});
