import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { HttpCaller } from '../harness/http-caller.js';
import { McpBench, say, scripted, serverB, type ToolCallView } from '../harness/mcp.js';
import { type ObedientModel, sayOverSocket, startObedientModel } from '../harness/obedient-model.js';

/** The rules of a channel and of tokens by name and by id, in one form. */
const RULES = `
[tools.channels.api]
deny = ["own__touch"]
[tools.tokens.reader]
allow = ["own__echo", "own__pid"]
[tools.tokens."a nightly job"]
deny = ["own__e*"]
`;

let model: ObedientModel;
let bench: McpBench;
let gateway: TestGateway;

beforeAll(async () => {
  model = await startObedientModel();
  bench = await McpBench.make({ own: scripted(`policy-${process.pid}`) }, RULES + model.provider);
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => expect((await serverB(gateway, 'own'))?.status).toBe('connected'));
});
afterAll(async () => {
  await gateway.stop();
  await model.mock.stop();
  await bench.clear();
});

interface Answer {
  readonly tool_calls: readonly ToolCallView[];
}

const holder = async (name: string) => gateway.caller('a', await gateway.mint({ name }));
const verdicts = async (caller: HttpCaller, ...tools: string[]) => {
  const { tool_calls: calls } = await say({ a: caller }, tools.map((tool) => `own__${tool}`).join(' '));
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
    const asked = model.mock.getLastRequest()?.body as
      | { tools?: { function: { name: string } }[] }
      | undefined;
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
    const sessionId = made.body.session_id;
    const done = (await sayOverSocket(gateway, { sessionId, token: reader, content })) as unknown as Answer;
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
    gateway.logLines.filter((line) => line.includes('name tokens that do not exist')).at(-1) ?? '';
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
