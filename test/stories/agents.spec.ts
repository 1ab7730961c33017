import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

interface SessionWire {
  readonly id: string;
  readonly agent: string;
}
interface ErrorWire {
  readonly error: { readonly message: string; readonly details: { readonly reason?: string } | null };
}

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    env: {
      GATEWAY__PROVIDERS__MAIN__KIND: 'offline',
      GATEWAY__PROVIDERS__MAIN__ALLOWED_MODELS: 'small-*',
      GATEWAY__AGENTS__SUPPORT__DESCRIPTION: 'Answers customers',
      GATEWAY__AGENTS__SUPPORT__TOOLS__DENY: 'memory_*',
      GATEWAY__AGENTS__LEGAL__USERS: 'ada,role:lawyers',
      GATEWAY__AGENTS__LEGAL__MEMORY: 'false',
      GATEWAY__AGENTS__LEGAL__MODELS: 'main/offline',
    },
  });
});
afterAll(() => gateway.stop());

async function toolsOf(agent: string): Promise<string> {
  const { body } = await gateway.b.post<SessionWire>('/sessions', { agent, user_id: 'ada' });
  const said = await gateway.b.post<{ content: string }>(`/sessions/${body.id}/messages`, {
    content: '/tools',
  });
  return said.body.content;
}

test.each(['a', 'b'] as const)(
  '`agent` in POST /sessions, shown in detail as `agent`; unknown: 400, in Profile %s',
  async (profile) => {
    const caller = gateway[profile];
    const made = await caller.post<{ id?: string; session_id?: string }>('/sessions', { agent: 'support' });
    const detail = `/sessions/${made.body.id ?? made.body.session_id}`;
    expect((await caller.get<SessionWire>(detail)).body.agent).toBe('support');
    const own = await caller.post<{ id?: string; session_id?: string }>('/sessions', {});
    const unnamed = `/sessions/${own.body.id ?? own.body.session_id}`;
    expect((await caller.get<SessionWire>(unnamed)).body.agent).toBe('default');
    const refused = await caller.post<ErrorWire>('/sessions', { agent: 'sales' });
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toBe('agent: is not a configured agent');
  },
);

test('a call must be allowed by the agent, and one that remembers nothing offers no memory tools', async () => {
  expect(await toolsOf('default')).toContain('memory_store');
  expect(await toolsOf('support')).not.toContain('memory_store');
  expect(await toolsOf('legal')).not.toContain('memory_store');
});

test('`users`: who may talk to it; not allowed: 403', async () => {
  const mine = gateway.caller('b', await gateway.mint({ scopes: ['sessions:write'], user: 'ada' }));
  expect((await mine.post('/sessions', { agent: 'legal' })).status).toBe(201);
  const bob = gateway.caller('b', await gateway.mint({ scopes: ['sessions:write'], user: 'bob' }));
  const refused = await bob.post<ErrorWire>('/sessions', { agent: 'legal' });
  expect([refused.status, refused.body.error.details?.reason]).toEqual([403, 'agent_not_allowed']);
});

test('the token may use only these agents, the first is its default', async () => {
  const secret = await gateway.mint({ agents: ['support'] });
  const bound = gateway.caller('b', secret);
  const { body } = await bound.post<SessionWire>('/sessions', {});
  expect((await bound.get<SessionWire>(`/sessions/${body.id}`)).body.agent).toBe('support');
  const refused = await bound.post<ErrorWire>('/sessions', { agent: 'default' });
  expect([refused.status, refused.body.error.details?.reason]).toEqual([403, 'agent_not_allowed']);
  const other = await gateway.b.post<SessionWire>('/sessions', {});
  const said = await bound.post<ErrorWire>(`/sessions/${other.body.id}/messages`, { content: 'Hello' });
  expect(said.status).toBe(403);
});

test('an unknown provider, or a model outside allowed_models, is refused when the session is created', async () => {
  const create = (model: string) => gateway.a.post<ErrorWire>('/sessions', { model });
  expect((await create('nobody/model')).status).toBe(400);
  const refused = await create('main/large-1');
  expect(refused.status).toBe(403);
  expect(refused.body.error.message).toContain('small-*');
  expect((await create('main/small-1')).status).toBe(201);
});

test('changes of agents take effect at once; an agent that names an unknown provider is refused, and users need security:write', async () => {
  const patch = (changes: object) => gateway.b.patch<ErrorWire>('/config', changes);
  const refused = await patch({ 'agents.sales.models': ['nobody/model'] });
  expect(refused.status).toBe(400);
  expect(refused.body.error.message).toContain('agents.sales.models: entry 1 names a provider');
  expect((await patch({ 'agents.sales.description': 'Sells' })).status).toBe(200);
  expect((await gateway.b.post('/sessions', { agent: 'sales' })).status).toBe(201);
  const operator = gateway.caller('b', await gateway.mint({ scopes: ['config:read', 'config:write'] }));
  expect((await operator.patch('/config', { 'agents.sales.users': ['ada'] })).status).toBe(403);
  expect((await operator.patch('/config', { 'agents.sales.reasoning': 'auto' })).status).toBe(200);
});

test('GET /admin/v1/agents: name, description, models with their health, tools, sessions', async () => {
  const { status, body } = await gateway.admin.get<{ items: readonly { name: string }[] }>('/agents');
  expect(status).toBe(200);
  expect(body.items.map(({ name }) => name)).toEqual(expect.arrayContaining(['default', 'support', 'legal']));
  expect(body.items.find(({ name }) => name === 'legal')).toMatchObject({
    models: [{ name: 'main/offline', status: 'ok', reason: null }],
    memory: false,
    users: ['ada', 'role:lawyers'],
  });
});

test('its spend today: 0 when nothing was used, a sum of what is priced, and null, never 0, when nothing is', async () => {
  const spent = async () => {
    const { body } = await gateway.admin.get<{ items: { name: string; spent_today_usd: unknown }[] }>(
      '/agents',
    );
    return Object.fromEntries(body.items.map((agent) => [agent.name, agent.spent_today_usd]));
  };
  const use = (agent: string, cost: string, unpriced: number, day = `(now() AT TIME ZONE 'UTC')::date`) =>
    gateway.database.query(
      `INSERT INTO usage_entries (day, agent, user_id, api_token, provider, model, channel, turns, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, unpriced_tokens, cost_usd)
       VALUES (${day}, '${agent}', 'u', 't', 'main', 'm', 'api', 1, 10, 0, 0, 1, 0, ${unpriced}, ${cost})`,
    );
  await gateway.b.patch('/config', { 'agents.books.description': 'Keeps the books' });
  expect((await spent())['books']).toBe(0);
  await use('books', 'NULL', 11);
  expect(await spent()).toMatchObject({ books: null });
  await use('books', '0.25', 0);
  await use('books', '4', 0, `(now() AT TIME ZONE 'UTC')::date - 1`);
  expect(await spent()).toMatchObject({ books: 0.25 });
  await eventually(async () =>
    expect(await gateway.database.query('SELECT 1 FROM usage_entries')).toEqual([]),
  );
  expect(await spent()).toMatchObject({ books: 0.25 });
});
