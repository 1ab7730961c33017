import { LLMock } from '@copilotkit/aimock';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { HttpCaller } from '../harness/http-caller.js';
import { McpBench, scripted, serverB, type ToolCallView } from '../harness/mcp.js';
import { SocketClient } from '../harness/socket-client.js';

/** The rules of a channel and of tokens by name and by id, in one form. */
const RULES = `
[tools.channels.api]
deny = ["own__touch"]
[tools.tokens.reader]
allow = ["own__echo", "own__pid"]
[tools.tokens."a nightly job"]
deny = ["own__e*"]
`;

let model: LLMock;
let bench: McpBench;
let gateway: TestGateway;

/** A model that calls every tool it is told to call, offered or not. */
function script(): void {
  model.addFixture({
    match: { predicate: ({ messages }) => messages.at(-1)?.role === 'tool' },
    response: { content: 'That is all.' },
  });
  model.addFixture({
    match: { predicate: ({ messages }) => messages.at(-1)?.role === 'user' },
    response: ({ messages }) => {
      const tools = JSON.stringify(messages.at(-1)?.content).match(/own__\w+/g) ?? [];
      return { toolCalls: tools.map((name) => ({ name, arguments: '{"text":"x"}' })) };
    },
  });
}

beforeAll(async () => {
  model = new LLMock({ port: 0 });
  await model.start();
  script();
  const provider = `[provider]\nkind = "openai"\nmodel = "m"\napi_key = "key-1234"\nbase_url = "${model.url}/v1"\n`;
  bench = await McpBench.make({ own: scripted(`policy-${process.pid}`) }, RULES + provider);
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => expect((await serverB(gateway, 'own'))?.status).toBe('connected'));
});
afterAll(async () => {
  await gateway.stop();
  await model.stop();
  await bench.clear();
});

interface Answer {
  readonly content: string;
  readonly tool_calls: readonly ToolCallView[];
}

async function say(caller: HttpCaller, content: string): Promise<Answer> {
  const made = await caller.post<{ session_id: string }>('/sessions', {});
  const path = `/sessions/${made.body.session_id}/messages`;
  return (await caller.post<Answer>(path, { content })).body;
}

const holder = async (name: string) => gateway.caller('a', await gateway.mint({ name }));
const verdicts = async (caller: HttpCaller, ...tools: string[]) => {
  const { tool_calls: calls } = await say(caller, tools.map((tool) => `own__${tool}`).join(' '));
  return Object.fromEntries(calls.map(({ name, status }) => [name.replace('own__', ''), status]));
};

describe('which tools may run in turns of a token', () => {
  test('a token with a rule may use what that allows, within the rule of the channel', async () => {
    expect(await verdicts(await holder('reader'), 'echo', 'pid', 'env', 'touch')).toEqual({
      echo: 'success',
      pid: 'success',
      env: 'denied',
      touch: 'denied',
    });
    expect(await verdicts(await holder('a nightly job'), 'echo', 'pid', 'env', 'touch')).toEqual({
      echo: 'denied',
      pid: 'success',
      env: 'denied',
      touch: 'denied',
    });
  });

  test('a token without a rule may use what the channel may', async () => {
    expect(await verdicts(await holder('anybody'), 'echo', 'touch')).toEqual({
      echo: 'success',
      touch: 'denied',
    });
  });

  test('what a token may not use is not offered in its turns, and a refusal names the token in the audit', async () => {
    expect(await verdicts(await holder('reader'), 'env')).toEqual({ env: 'denied' });
    const asked = model.getLastRequest()?.body as { tools?: { function: { name: string } }[] } | undefined;
    expect(asked?.tools?.map((tool) => tool.function.name)).toEqual(['own__echo', 'own__pid']);
    const rows = await gateway.database.query<{ outcome: string; details: object }>(
      `SELECT outcome, details FROM audit_entries WHERE target = 'own__env' ORDER BY id DESC LIMIT 1`,
    );
    expect(rows[0]).toMatchObject({
      outcome: 'denied',
      details: { token: 'reader', token_id: expect.stringMatching(/^tok_/) as string },
    });
  });

  test('the same session follows the rules of whichever token sends, over HTTP and WebSocket', async () => {
    const reader = await gateway.mint({ name: 'reader' });
    const made = await gateway.a.post<{ session_id: string }>('/sessions', {});
    const path = `/sessions/${made.body.session_id}/messages`;
    const content = 'own__env';
    const byAdmin = await gateway.a.post<Answer>(path, { content });
    expect(byAdmin.body.tool_calls[0]?.status).toBe('success');
    const socket = await SocketClient.open(
      `ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${made.body.session_id}`,
      { headers: { authorization: `Bearer ${reader}` } },
    );
    socket.send({ type: 'message', content });
    const done = (await socket.until('done')) as unknown as Answer;
    socket.socket.terminate();
    expect(done.tool_calls[0]?.status).toBe('denied');
  });

  test('a rule may name the id, and takes effect at once', async () => {
    const token = await gateway.mint({ name: 'hurried' });
    const caller = gateway.caller('a', token);
    expect(await verdicts(caller, 'pid')).toEqual({ pid: 'success' });
    const [{ id } = { id: '' }] = await gateway.database.query<{ id: string }>(
      `SELECT id FROM api_tokens WHERE name = 'hurried'`,
    );
    const changed = await gateway.b.patch('/config', { [`tools.tokens.${id}`]: { deny: ['*'] } });
    expect([changed.status, changed.text]).toEqual([200, expect.anything()]);
    expect(await verdicts(caller, 'pid')).toEqual({ pid: 'denied' });
  });
});

test('the log warns of a rule that names no existing token', async () => {
  await gateway.mint({ name: 'there' });
  const warned = () =>
    gateway.logLines.filter((line) => line.includes('name no token there is')).at(-1) ?? '';
  await gateway.b.patch('/config', { 'tools.tokens.thereabouts.deny': ['*'] });
  await eventually(() => expect(warned()).toContain('"thereabouts"'));
  const both = { 'tools.tokens.there.deny': ['*'], 'tools.tokens.typo.deny': ['*'] };
  expect((await gateway.b.patch('/config', both)).status).toBe(200);
  await eventually(() => expect(warned()).toContain('"typo"'));
  expect(warned()).not.toContain('"there"');
});

test('the metrics show the status of every server', async () => {
  const { text } = await gateway.operations.get('/metrics');
  const samples = text.split('\n').filter((line) => line.startsWith('agent_gateway_mcp_server_status{'));
  expect(samples).toEqual([
    'agent_gateway_mcp_server_status{server="own",status="connected"} 1',
    'agent_gateway_mcp_server_status{server="own",status="reconnecting"} 0',
    'agent_gateway_mcp_server_status{server="own",status="disconnected"} 0',
  ]);
  await gateway.b.patch('/config', { 'mcp.servers.own.enabled': false });
  await eventually(async () => {
    const after = await gateway.operations.get('/metrics');
    expect(after.text).not.toContain('agent_gateway_mcp_server_status{');
  });
});
