import { TaskState } from '@a2a-js/sdk';
import { a2aClient, askA2a, textOf } from '../harness/a2a.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpCaller } from '../harness/mcp-client.js';
import { openAiClient } from '../harness/openai-face.js';
import { answerWith, openAiWire } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { providerEnv } from '../harness/turn-stream.js';

/** Clients that know nothing about this gateway, each with the protocol that it was made for. */
let provider: ScriptedProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startScriptedProvider();
  gateway = await startTestGateway({
    env: { ...providerEnv(provider), GATEWAY__AGENTS__SUPPORT__DESCRIPTION: 'Answers customers' },
  });
});
beforeEach(() => provider.script(answerWith(openAiWire, 'At nine.')));
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const lastAsked = (): string => JSON.stringify(provider.requests.at(-1)?.body);
const turnsOf = async (session: string): Promise<unknown> =>
  (await gateway.b.get<object>(`/sessions/${session}`)).body;

test('a client of OpenAI finds the agents as models, and goes on with what it has said', async () => {
  const client = openAiClient(gateway);
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['default', 'support']);
  const first = await client.responses.create({ model: 'support', input: 'When do you open?' });
  expect(first.output_text).toBe('At nine.');
  const second = await client.responses.create({
    ...{ model: 'support', input: 'On Sundays too?' },
    previous_response_id: first.id,
  });
  expect(second.output_text).toBe('At nine.');
  expect(lastAsked()).toMatch(/When do you open\?.*At nine\..*On Sundays too\?/s);
});

test('a client of OpenAI that keeps its history itself is answered word by word', async () => {
  const words: string[] = [];
  const stream = await openAiClient(gateway).chat.completions.create({
    ...{ model: 'support', stream: true },
    messages: [{ role: 'user', content: 'When do you open?' }],
  });
  for await (const { choices } of stream) words.push(choices[0]?.delta.content ?? '');
  expect(words.join('')).toBe('At nine.');
});

test('an A2A client discovers the agents from the card; its context is a session, and its task a turn', async () => {
  const client = await a2aClient(gateway.b.base, gateway.token);
  const task = await askA2a(client, 'When do you open?', { metadata: { agent: 'support' } });
  expect([task.status?.state, textOf(task)]).toEqual([TaskState.TASK_STATE_COMPLETED, 'At nine.']);
  expect(await turnsOf(task.contextId)).toMatchObject({ agent: 'support', turn_count: 1 });
  await askA2a(client, 'On Sundays too?', { contextId: task.contextId });
  expect(lastAsked()).toMatch(/When do you open\?.*At nine\..*On Sundays too\?/s);
});

test('an MCP client finds each agent as a tool, and its session goes on where it says so', async () => {
  const caller = await McpCaller.connect(gateway.b.base, gateway.token);
  try {
    expect(await caller.tools()).toEqual(expect.arrayContaining(['ask_default', 'ask_support']));
    const first = await caller.call('ask_support', { message: 'When do you open?' });
    expect(first).toMatchObject({ text: 'At nine.', isError: false });
    const { session } = first;
    await caller.call('ask_support', { message: 'On Sundays too?', session_id: session });
    expect(lastAsked()).toMatch(/When do you open\?.*At nine\..*On Sundays too\?/s);
    expect(await turnsOf(session)).toMatchObject({ agent: 'support', turn_count: 2 });
  } finally {
    await caller.close();
  }
});
