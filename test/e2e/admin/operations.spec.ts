import type { Scope } from '../../../src/platform/tokens/scopes.js';
import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import { HookReceiver } from '../../harness/hook-receiver.js';
import { McpBench, scripted, shared } from '../../harness/mcp.js';

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}
interface Refusal {
  error: { details: { reason?: string } | null };
}
interface Delivery {
  id: string;
  hook_id: string;
  event: string;
  status: string;
  attempts: number;
  last_status: number | null;
  data?: Record<string, unknown> | null;
}
interface Overview {
  bucket_secs: number;
  health: {
    status: string;
    parts: { name: string; status: string; detail: string; advice: string | null }[];
  };
  totals: { turns: number; failed: number; cost_usd: number | null };
  series: { at: string; turns: number; cost_usd: number | null }[];
  attention: { kind: string; name: string; text: string; count: number }[];
  now: { sessions_live: number };
}

const CHANNELS = `
[channels_config.phone]
type = "telegram"
token = "123456:wrong"
api_url = "http://127.0.0.1:1"
`;

let bench: McpBench;
let gateway: TestGateway;
let receiver: HookReceiver;
beforeAll(async () => {
  receiver = await HookReceiver.open();
  bench = await McpBench.make(
    { own: shared(scripted('operators')), broken: { command: '/does/not/exist' } },
    CHANNELS,
  );
  gateway = await startTestGateway({ env: bench.env });
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
  await bench.clear();
});

test('webhooks and deliveries are listed, shown with their body to those who may read it, and sent again', async () => {
  receiver.behaviour = () => 500;
  const hook = (
    await gateway.b.post<{ id: string }>('/hooks', { url: receiver.url(), events: ['session.created'] })
  ).body;
  await gateway.b.post('/sessions', { user_id: 'ada' });
  let delivery: Delivery | undefined;
  await eventually(async () => {
    [delivery] = (await gateway.admin.get<Page<Delivery>>(`/deliveries?hook=${hook.id}`)).body.items;
    expect(delivery).toMatchObject({ event: 'session.created', attempts: 1, last_status: 500 });
  });
  expect(delivery).not.toHaveProperty('data');
  const [listed] = (await gateway.admin.get<Page<Record<string, unknown>>>('/hooks')).body.items;
  expect(listed).toMatchObject({ id: hook.id, active: true, waiting: 1, url: receiver.url() });
  expect(listed?.['failing_since']).not.toBeNull();
  const path = `/deliveries/${delivery!.id}`;
  expect((await gateway.admin.get<Delivery>(path)).body.data).toMatchObject({ user_id: 'ada' });
  const clerk = gateway.adminCaller(await gateway.mint({ scopes: ['hooks:read'] }));
  expect((await clerk.get<Delivery>(path)).body.data).toBeNull();
  expect((await clerk.post(`${path}/redeliver`)).status).toBe(403);
  receiver.behaviour = () => 200;
  const before = receiver.attempts.length;
  expect((await gateway.admin.post(`${path}/redeliver`)).body).toEqual({
    id: delivery!.id,
    status: 'pending',
  });
  await eventually(async () => {
    expect(receiver.attempts.length).toBeGreaterThan(before);
    const done = await gateway.admin.get<Page<Delivery>>('/deliveries?status=delivered&since=1h');
    expect(done.body.items.map(({ id }) => id)).toEqual([delivery!.id]);
  });
  const { items } = (await gateway.admin.get<Page<object>>('/audit?action=delivery.replayed')).body;
  expect(items).toHaveLength(1);
  // What was delivered is kept, also when its webhook is gone; it cannot be sent again.
  await gateway.a.delete(`/hooks/${delivery!.hook_id}`);
  expect((await gateway.admin.get<Delivery>(path)).status).toBe(200);
  const gone = await gateway.admin.post<{ error: { message: string } }>(`${path}/redeliver`);
  expect([gone.status, gone.body.error.message]).toEqual([404, 'There is no such webhook.']);
  for (const missing of ['/deliveries/0', '/deliveries/99999', '/deliveries/x'])
    expect([missing, (await gateway.admin.get(missing)).status]).toEqual([missing, 404]);
});

test('channels are shown with state and last error, and restarted', async () => {
  await eventually(async () => {
    const { items } = (await gateway.admin.get<Page<Record<string, unknown>>>('/channels')).body;
    expect(items).toMatchObject([
      { name: 'api', type: 'api', enabled: true, status: 'connected', error: null },
      { name: 'phone', type: 'telegram', enabled: true, connected_at: null },
    ]);
    expect(items[1]?.['error']).toEqual(expect.any(String));
  });
  const page = (await gateway.admin.get<Page<{ name: string }>>('/channels?limit=1')).body;
  const next = await gateway.admin.get<Page<{ name: string }>>(`/channels?cursor=${page.next_cursor}`);
  expect(next.body.items.map(({ name }) => name)).toEqual(['phone']);
  const restarted = await gateway.admin.post('/channels/phone/restart');
  expect([restarted.status, restarted.body]).toEqual([200, { name: 'phone', status: 'reconnecting' }]);
  expect((await gateway.admin.post('/channels/nobody/restart')).status).toBe(404);
});

test('tool servers are shown with connections and quarantine; changed tools are approved as they were seen', async () => {
  type Server = {
    name: string;
    status: string;
    tools: string[];
    quarantined: string[];
    error: string | null;
  };
  const servers = async () => (await gateway.admin.get<Page<Server>>('/mcp/servers')).body.items;
  await eventually(async () => {
    const [broken, own] = await servers();
    expect(broken).toMatchObject({ name: 'broken', tools: [], connections: { busy: 0, idle: 0 } });
    expect(broken?.error).toEqual(expect.any(String));
    expect(own).toMatchObject({ name: 'own', status: 'connected', quarantined: [] });
  });
  const [, own] = await servers();
  const tool = own!.tools[0]!;
  await gateway.database.query(
    `UPDATE mcp_tools SET fingerprint = 'before', pending_fingerprint = fingerprint, pending_definition = definition
     WHERE server = 'own' AND tool = '${tool}'`,
  );
  expect((await servers())[1]?.quarantined).toEqual([tool]);
  const held = (
    await gateway.admin.get<Page<{ tool: string; state: string; fingerprint: string }>>(
      '/mcp/tools?server=own&quarantined=true',
    )
  ).body.items;
  expect(held).toMatchObject([{ tool, state: 'quarantined' }]);
  const stale = await gateway.admin.post<Refusal>('/mcp/servers/own/approve', {
    tool,
    fingerprint: '0'.repeat(64),
  });
  expect([stale.status, stale.body.error.details]).toEqual([409, { reason: 'tool_changed' }]);
  const { fingerprint } = held[0]!;
  const approved = await gateway.admin.post('/mcp/servers/own/approve', { tool, fingerprint });
  expect([approved.status, approved.body]).toEqual([200, { approved: [tool] }]);
  expect((await gateway.admin.post('/mcp/servers/own/approve', {})).body).toEqual({ approved: [] });
  expect((await gateway.admin.post('/mcp/servers/nobody/approve', {})).status).toBe(404);
  expect((await gateway.admin.post('/mcp/servers/own/reconnect')).body).toEqual({
    name: 'own',
    status: 'reconnecting',
  });
  const { items } = (await gateway.admin.get<Page<{ actor: string }>>('/audit?action=tool.approved')).body;
  expect(items).toMatchObject([{ actor: 'test' }]);
});

test('changes of the configuration are listed newest first, secrets as a marker', async () => {
  await gateway.b.patch('/config', { 'agent.max_turns': 31 });
  await gateway.b.patch('/config', { 'channels_config.phone.token': '123456:a-key-nobody-may-see' });
  const answer = await gateway.admin.get<Page<{ action: string; edits: object[] }>>('/config/history');
  expect(answer.text).not.toContain('a-key-nobody');
  expect(answer.body.items).toMatchObject([
    {
      action: 'patch',
      edits: [{ key: 'channels_config.phone.token', before: null, after: '***REDACTED***' }],
    },
    { action: 'patch', actor: 'test', edits: [{ key: 'agent.max_turns', before: null, after: 31 }] },
  ]);
});

test('changes of the configuration are undone: the newest, and everything after a revision', async () => {
  interface Undone {
    changed: string[];
    reload_required: boolean;
  }
  const undo = (body: object) => gateway.admin.post<Undone>('/config/rollback', body);
  const turns = async () =>
    (await gateway.b.get<{ agent: { max_turns: number } }>('/config')).body.agent.max_turns;
  const newest = async () =>
    (await gateway.admin.get<Page<{ revision: string; action: string }>>('/config/history')).body.items[0];
  const before = await turns();
  const start = (await newest())?.revision ?? '0';
  await gateway.b.patch('/config', { 'agent.max_turns': 41 });
  await gateway.b.patch('/config', { 'agent.max_turns': 42 });
  const one = await undo({});
  expect([one.status, one.body, await turns()]).toEqual([
    200,
    { changed: ['agent.max_turns'], reload_required: false },
    41,
  ]);
  expect(await newest()).toMatchObject({ action: 'rollback' });
  expect((await undo({ revision: start })).body.changed).toEqual(['agent.max_turns']);
  expect(await turns()).toBe(before);
  expect((await undo({ revision: start })).body.changed).toEqual([]);
  for (const revision of ['999999', '-1', 'x', 1]) expect((await undo({ revision })).status).toBe(400);
});

test('what decides who may do what is not undone without security:write', async () => {
  await gateway.b.patch('/config', { 'agent.tool_approval': 'ask' });
  const operator = gateway.adminCaller(await gateway.mint({ scopes: ['config:write'] }));
  expect((await operator.post('/config/rollback', {})).status).toBe(403);
  expect((await gateway.admin.post('/config/rollback', {})).status).toBe(200);
});

test('the overview says whether all is well, what happens, and what needs a person', async () => {
  const { body: session } = await gateway.b.post<{ id: string }>('/sessions', {});
  await gateway.b.post(`/sessions/${session.id}/messages`, { content: 'Hello' });
  await eventually(async () => {
    const { body } = await gateway.admin.get<Overview>('/overview');
    expect(body.totals).toMatchObject({ turns: 1, failed: 0 });
    expect(body.bucket_secs).toBe(900);
    expect(body.series.length).toBeLessThanOrEqual(121);
    expect(body.series.reduce((sum, { turns }) => sum + turns, 0)).toBe(1);
    expect(body.now.sessions_live).toBeGreaterThan(0);
    expect(body.health.status).toBe('degraded');
    const states = Object.fromEntries(body.health.parts.map(({ name, status }) => [name, status]));
    expect(states).toMatchObject({
      ...{ gateway: 'ok', database: 'ok', disk: 'ok', clock: 'ok', keys: 'ok', limits: 'ok' },
      ...{ provider: 'warning', replicas: 'ok', turns: 'ok', channels: 'failing', 'tool servers': 'failing' },
    });
    for (const { status, advice } of body.health.parts) expect(advice === null).toBe(status === 'ok');
    expect(body.attention.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'channel phone',
      'mcp_server broken',
    ]);
  });
  await gateway.database.query('UPDATE turns SET cost_usd = 0.25');
  for (const [since, secs] of [
    ['1h', 60],
    ['7d', 21_600],
    ['2000-01-01', 2_592_000],
  ] as const) {
    const { body } = await gateway.admin.get<Overview>(`/overview?since=${since}`);
    expect([since, body.bucket_secs]).toEqual([since, secs]);
    expect(body.series.length).toBeLessThanOrEqual(121);
  }
});

test('the overview shows spend and names only to those who may read them', async () => {
  const shown = async (...scopes: Scope[]) => {
    const caller = gateway.adminCaller(await gateway.mint({ scopes: ['status:read', ...scopes] }));
    const { body, text } = await caller.get<Overview>('/overview?since=2h');
    const costs = [body.totals.cost_usd, ...body.series.map(({ cost_usd: cost }) => cost)];
    return {
      hasCost: costs.some((cost) => cost !== null),
      kinds: body.attention.map(({ kind }) => kind),
      text,
    };
  };
  const little = await shown();
  expect(little).toMatchObject({ hasCost: false, kinds: [] });
  expect(little.text).not.toMatch(/phone|broken/);
  expect(await shown('usage:read')).toMatchObject({ hasCost: true, kinds: [] });
  expect(await shown('channels:read')).toMatchObject({ hasCost: false, kinds: ['channel'] });
  expect(await shown('mcp:read')).toMatchObject({ hasCost: false, kinds: ['mcp_server'] });
});

test.each([
  '/overview',
  '/hooks',
  '/deliveries',
  '/channels',
  '/mcp/servers',
  '/mcp/tools',
  '/config/history',
])('bound callers "get 403 elsewhere": %s', async (path) => {
  const bound = gateway.adminCaller(await gateway.mint({ user: 'ada' }));
  const { status, body } = await bound.get<Refusal>(path);
  expect([status, body.error.details]).toEqual([403, { reason: 'token_bound_to_user' }]);
  const nobody = gateway.adminCaller(await gateway.mint({ scopes: ['sessions:read'] }));
  expect((await nobody.get(path)).status).toBe(403);
});

test.each([
  '/overview',
  '/hooks',
  '/deliveries',
  '/channels',
  '/mcp/servers',
  '/mcp/tools',
  '/config/history',
])('what is about all agents is 403 for a token of some: %s', async (path) => {
  const some = gateway.adminCaller(await gateway.mint({ agents: ['default'] }));
  const { status, body } = await some.get<Refusal>(path);
  expect([status, body.error.details]).toEqual([403, { reason: 'agent_not_allowed' }]);
});

test.each([
  '/channels/api/restart',
  '/mcp/servers/own/reconnect',
  '/mcp/servers/own/approve',
  '/config/rollback',
])('what is about all agents is not changed by a token of some: %s', async (path) => {
  const some = gateway.adminCaller(await gateway.mint({ agents: ['default'] }));
  const { status, body } = await some.post<Refusal>(path, /approve|rollback/.test(path) ? {} : undefined);
  expect([status, body.error.details]).toEqual([403, { reason: 'agent_not_allowed' }]);
});
