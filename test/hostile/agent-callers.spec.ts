import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { HttpCaller } from '../harness/http-caller.js';
import { McpBench, scripted, serverB } from '../harness/mcp.js';
import { McpCaller } from '../harness/mcp-client.js';
import { SocketClient } from '../harness/socket-client.js';
import { TurnStream } from '../harness/turn-stream.js';

const SETTINGS = `
[agent]
tool_approval = "ask"
tool_approval_timeout_ms = 60000
tools = { deny = ["own__erase"] }
[agents.support]
tools = { allow = ["*"], deny = [] }
[agents.legal]
tools = { allow = ["*"], deny = [] }
`;

interface Approval {
  readonly id: string;
  readonly session_id: string;
}
interface Refusal {
  readonly error: { readonly details: { readonly reason?: string } | null };
}
interface ListWire {
  /** `session_id` in Profile A. */
  readonly sessions: readonly { readonly id?: string; readonly session_id?: string }[];
  readonly total: number;
}

let bench: McpBench;
let gateway: TestGateway;
/** A token for the agent `support` only. */
let secret: string;
let narrow: Record<'a' | 'b' | 'admin', HttpCaller>;
let mine: string[];
let foreign: string[];
beforeAll(async () => {
  bench = await McpBench.make({ own: scripted(`agent-callers-${process.pid}`) }, SETTINGS);
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => expect((await serverB(gateway, 'own'))?.status).toBe('connected'));
  secret = await gateway.mint({ agents: ['support'], name: 'narrow' });
  narrow = {
    a: gateway.caller('a', secret),
    b: gateway.caller('b', secret),
    admin: gateway.adminCaller(secret),
  };
  mine = await opened('support', 3);
  foreign = [...(await opened('legal', 2)), ...(await opened('default', 2))];
});
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

async function opened(agent: string, count: number): Promise<string[]> {
  const made = await Promise.all(
    Array.from({ length: count }, () =>
      gateway.b.post<{ id: string }>('/sessions', { agent, channel: 'api' }),
    ),
  );
  return made.map(({ body }) => body.id);
}

const idsOf = ({ sessions }: ListWire) => sessions.map(({ id, session_id }) => id ?? session_id).sort();
const listB = async (query: string) => (await narrow.b.get<ListWire>(`/sessions${query}`)).body;

describe('"the token may use only these": a caller of some agents sees nothing of others', () => {
  test.each(['', '?status=active', '?channel=api', '?status=active&channel=api', '?status=terminated'])(
    'sessions of Profile B, %s',
    async (query) => {
      const expected = query.includes('terminated') ? [] : [...mine].sort();
      const listed = await listB(query);
      expect([idsOf(listed), listed.total]).toEqual([expected, expected.length]);
    },
  );

  test('sessions of Profile A; the pages of both profiles', async () => {
    const all = (await narrow.a.get<ListWire>('/sessions')).body;
    expect(idsOf(all)).toEqual([...mine].sort());
    const [first, second] = [await listB('?limit=2'), await listB('?limit=2&offset=2')];
    expect([first.total, second.total]).toEqual([3, 3]);
    expect([...idsOf(first), ...idsOf(second)].sort()).toEqual([...mine].sort());
    expect((await listB('?limit=2&offset=5000')).sessions).toEqual([]);
  });

  test('of a user with sessions at several agents, with a token bound to both', async () => {
    const bound = gateway.caller('b', await gateway.mint({ agents: ['support'], user: 'ada' }));
    const own = await gateway.b.post<{ id: string }>('/sessions', { agent: 'support', user_id: 'ada' });
    await gateway.b.post('/sessions', { agent: 'legal', user_id: 'ada' });
    const listed = (await bound.get<ListWire>('/sessions?channel=api')).body;
    expect([idsOf(listed), listed.total]).toEqual([[own.body.id], 1]);
    await gateway.b.delete(`/sessions/${own.body.id}`);
    mine.push(own.body.id);
  });

  test('one session, its messages, events and WebSocket are 403', async () => {
    const [other] = foreign as [string];
    for (const caller of [narrow.a, narrow.b])
      for (const path of [`/sessions/${other}`, `/sessions/${other}/messages`])
        expect((await caller.get(path)).status).toBe(403);
    const stream = await TurnStream.open(`${narrow.b.base}/sessions/${other}/messages`, secret);
    expect(stream.response.status).toBe(403);
    const client = SocketClient.open(`ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${other}`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    await expect(client).rejects.toThrow('403');
    expect((await narrow.b.delete(`/sessions/${other}`)).status).toBe(403);
  });

  test('logs, the audit, the configuration, and webhooks, which are told of all agents, are 403', async () => {
    const said = await Promise.all([
      narrow.b.get<Refusal>('/logs'),
      narrow.b.get<Refusal>('/logs/stream'),
      narrow.admin.get<Refusal>('/audit'),
      narrow.b.get<Refusal>('/config'),
      narrow.b.patch<Refusal>('/config', { 'agents.legal.system_prompt': 'Tell everything.' }),
      narrow.b.post<Refusal>('/hooks', { url: 'https://example.com/', events: ['*'] }),
    ]);
    expect(said.map(({ status, body }) => [status, body.error.details?.reason])).toEqual(
      said.map(() => [403, 'agent_not_allowed']),
    );
    for (const path of ['/logs', '/config', '/hooks']) expect((await narrow.a.get(path)).status).toBe(403);
    expect((await narrow.a.post('/config/reload')).status).toBe(403);
    // Its user also talks to other agents, and a webhook would reveal those conversations.
    const bound = gateway.caller('b', await gateway.mint({ agents: ['support'], user: 'ada' }));
    expect((await bound.post('/hooks', { url: 'https://example.com/', events: ['*'] })).status).toBe(403);
  });

  test('metrics, which tell what each agent cost, are 403 unless they are open to everybody', async () => {
    const refused = await narrow.a.get<Refusal>('/metrics');
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining('only use the agents support'),
    ]);
    expect((await gateway.a.get('/metrics')).status).toBe(200);
    expect((await gateway.b.patch('/config', { 'gateway.metrics_public': true })).status).toBe(200);
    expect((await narrow.a.get('/metrics')).status).toBe(200);
    await gateway.b.patch('/config', { 'gateway.metrics_public': null });
    expect((await narrow.a.get('/metrics')).status).toBe(403);
  });

  test('names of other agents are not told, and its own are those of /v1, /mcp and the card', async () => {
    const unknown = await narrow.b.post('/sessions', { agent: 'nobody' });
    expect([unknown.status, JSON.stringify(unknown.body)]).toEqual([400, expect.not.stringMatching(/legal/)]);
    const checked = await narrow.admin.post<{ agents: { name: string }[] }>('/agents/check', {});
    expect(checked.body.agents.map(({ name }) => name)).toEqual(['support']);
    const origin = new URL(narrow.b.base).origin;
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const models = await fetch(`${origin}/v1/models`, { headers });
    expect(((await models.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([
      'support',
    ]);
  });

  test('another agent is 403 at each face that answers with HTTP statuses', async () => {
    const origin = new URL(narrow.b.base).origin;
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'a2a-version': '1.0',
    };
    const post = async (path: string, body: object) =>
      (await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status;
    const messages = [{ role: 'user', content: 'Hello' }];
    const parts = [{ text: 'Hello' }];
    const message = { messageId: 'one', role: 'ROLE_USER', parts, metadata: { agent: 'legal' } };
    expect([
      (await narrow.a.post('/sessions', { agent: 'legal' })).status,
      (await narrow.b.post('/sessions', { agent: 'legal' })).status,
      await post('/v1/chat/completions', { model: 'legal', messages }),
      await post('/v1/responses', { model: 'legal', input: 'Hello', store: false }),
      await post('/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
      (await narrow.admin.post('/agents/check', { agents: ['legal'] })).status,
    ]).toEqual([403, 403, 403, 403, 403, 403]);
    const asked = await McpCaller.connect(narrow.b.base, secret);
    expect((await asked.tools()).filter((name) => name.startsWith('ask_'))).toEqual(['ask_support']);
    const refused = await asked.call('ask_legal', { message: 'Hello' });
    expect([refused.isError, refused.text]).toEqual([
      true,
      expect.stringContaining('may only use the agents support'),
    ]);
    await asked.close();
  });

  test('channels and tool servers, which are those of all agents, are 403 to test, restart or reconnect', async () => {
    const tested = await narrow.a.post('/channels/api/test');
    expect([tested.status, tested.text]).toEqual([
      403,
      expect.stringContaining('only use the agents support'),
    ]);
    const said = await Promise.all([
      narrow.b.post<Refusal>('/channels/api/restart'),
      narrow.b.post<Refusal>('/mcp/own/reconnect'),
    ]);
    expect(said.map(({ status, body }) => [status, body.error.details?.reason])).toEqual(
      said.map(() => [403, 'agent_not_allowed']),
    );
  });

  test('agents and usage list its own alone', async () => {
    for (const id of [mine[0], foreign[0]])
      await gateway.b.post(`/sessions/${id}/messages`, { content: 'Hello' });
    const agents = await narrow.admin.get<{ items: { name: string }[] }>('/agents');
    expect(agents.body.items.map(({ name }) => name)).toEqual(['support']);
    const usage = (caller: HttpCaller) => caller.get<{ items: { agent: string }[] }>('/usage?by=agent');
    expect((await usage(gateway.admin)).body.items.map(({ agent }) => agent)).toEqual(['legal', 'support']);
    expect((await usage(narrow.admin)).body.items.map(({ agent }) => agent)).toEqual(['support']);
  });
});

describe('tool calls that wait', () => {
  /** Sends a message to a session whose call then waits. */
  async function asked(session: string) {
    const answer = gateway.b.post(`/sessions/${session}/messages`, {
      content: '/call own__erase {"text":"all"}',
    });
    let approval: Approval | undefined;
    await eventually(async () => {
      const { items } = (await gateway.admin.get<{ items: Approval[] }>('/approvals?status=pending')).body;
      approval = items.find(({ session_id }) => session_id === session);
      expect(approval).toBeDefined();
    });
    return { id: approval?.id ?? '', answer };
  }

  test('a caller of some agents sees and decides those of its agents', async () => {
    const [own, other] = [await asked(mine[0] ?? ''), await asked(foreign[0] ?? '')];
    const { status, body } = await narrow.admin.get<{ items: Approval[] }>('/approvals?status=pending');
    expect([status, body.items.map(({ id }) => id)]).toEqual([200, [own.id]]);
    const decide = (caller: HttpCaller, id: string, decision: string) =>
      caller.post(`/approvals/${id}/decision`, { decision });
    expect((await decide(narrow.admin, other.id, 'deny')).status).toBe(404);
    // The rules of the agent that asks apply; the default agent has none of its tools.
    expect((await decide(narrow.admin, own.id, 'allow')).status).toBe(200);
    expect((await decide(gateway.admin, other.id, 'allow')).status).toBe(200);
    expect([(await own.answer).status, (await other.answer).status]).toEqual([200, 200]);
  });

  test('the WebSocket of a session answers by the rules of its agent', async () => {
    const session = mine[1] ?? '';
    const client = await SocketClient.open(
      `ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${session}`,
      {
        headers: { authorization: `Bearer ${secret}` },
      },
    );
    const { id, answer } = await asked(session);
    client.send({ type: 'tool_approval', approval_id: id, decision: 'allow' });
    const { status, body } = await answer;
    expect([status, JSON.stringify(body)]).toEqual([200, expect.not.stringContaining('denied')]);
    client.socket.terminate();
  });
});
