import type { ProfileId } from '../../src/http/profiles/profile.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  type Judgement,
  type JudgingModel,
  type SentRequest,
  startJudgingModel,
} from '../harness/judging-model.js';
import { SocketClient } from '../harness/socket-client.js';

const schema = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } };
const format = (json_schema: object = { name: 'reply', schema }) => ({ type: 'json_schema', json_schema });

/** Answers in the format at once, after a repair, or never, depending on the message. */
function answer({ messages }: SentRequest): Judgement {
  const said = messages.map(({ text }) => text).join('\n');
  if (said.includes('never')) return { text: 'No.' };
  const isRepair = said.includes('does not fit the format');
  if (said.includes('deep') && !isRepair) return { text: `${'['.repeat(9000)}${']'.repeat(9000)}` };
  return { text: said.includes('late') && !isRepair ? '{"town":1}' : '{"city":"Oslo"}' };
}

let model: JudgingModel;
let gateway: TestGateway;

beforeAll(async () => {
  model = await startJudgingModel('openai', answer);
  gateway = await startTestGateway({ env: model.env });
});
beforeEach(() => {
  model.requests.length = 0;
});
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
});

interface Answer {
  content?: string;
  error?: { code: string; message: string; details?: { reason?: string } };
}

async function say(profile: ProfileId, content: string, more: object) {
  const { body } = await gateway[profile].post<{ id?: string; session_id?: string }>('/sessions', {});
  return gateway[profile].post<Answer>(`/sessions/${body.id ?? body.session_id}/messages`, {
    content,
    ...more,
  });
}

describe.each(['a', 'b'] as const)('Profile %s', (profile) => {
  test.each<[string, object]>([
    ['temperature', { temperature: 3 }],
    ['top_p', { top_p: '1' }],
    ['max_output_tokens', { max_output_tokens: 0 }],
    ['max_output_tokens', { max_output_tokens: 5000 }],
    ['stop', { stop: [] }],
    ['tool_choice', { tool_choice: 'maybe' }],
    ['tool_choice', { tool_choice: { name: 'no_such_tool' } }],
    ['response_format', { response_format: { type: 'text' } }],
    ['response_format', { response_format: format({ name: 'x', schema: { type: 'nonsense' } }) }],
    [
      'response_format',
      { response_format: format({ name: 'x', schema: { description: 'x'.repeat(65_536) } }) },
    ],
  ])('%s is refused by name: %#', async (name, options) => {
    const refused = await say(profile, 'Hello', options);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain(name);
    expect(model.requests).toEqual([]);
  });

  test('an answer in a format is that JSON, also after a repair', async () => {
    for (const [content, calls] of [
      ['Where?', 1],
      ['Where, late?', 2],
      ['Where, deep?', 2],
    ] as const) {
      model.requests.length = 0;
      const { status, body } = await say(profile, content, { response_format: format() });
      expect([status, body.content]).toEqual([200, '{"city":"Oslo"}']);
      expect(model.requests).toHaveLength(calls);
    }
  });

  test('one that does not fit after the repair fails the turn', async () => {
    const failed = await say(profile, 'never', { response_format: format() });
    expect(failed.status).toBe(502);
    expect(JSON.stringify(failed.body)).toContain('did not answer in the format that was asked for');
    expect(gateway.logLines.join('')).toContain('response_format_unmet');
    expect(model.requests).toHaveLength(2);
  });
});

test('the options of a message reach the model', async () => {
  const options = { temperature: 0.2, top_p: 0.9, max_output_tokens: 77, stop: ['END'], tool_choice: 'none' };
  const { status } = await say('b', 'Where?', { ...options, response_format: format() });
  expect(status).toBe(200);
  const [sent] = model.requests;
  expect(sent?.body).toMatchObject({
    ...{ temperature: 0.2, top_p: 0.9, stop: ['END'], tool_choice: 'none' },
    response_format: { type: 'json_schema', json_schema: { name: 'reply', schema } },
  });
  expect([sent?.body['max_tokens'], sent?.body['max_completion_tokens']]).toContain(77);
});

test('the options of a frame reach the model, and are refused by name', async () => {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
  const socket = await SocketClient.open(`ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${body.id}`, {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  const options = { temperature: 0.3, top_p: 0.8, max_output_tokens: 78, stop: ['END'], tool_choice: 'none' };
  socket.send({ type: 'message', content: 'Where?', ...options, response_format: format() });
  expect(await socket.until('done')).toMatchObject({ content: '{"city":"Oslo"}' });
  expect(socket.said()).toBe('{"city":"Oslo"}');
  const { max_output_tokens: _, ...sent } = options;
  expect(model.requests[0]?.body).toMatchObject({ ...sent, response_format: { type: 'json_schema' } });
  for (const [index, wrong] of [
    { temperature: 3 },
    { max_output_tokens: 5000 },
    { tool_choice: { name: 'no_such_tool' } },
    { stop: 'END' },
    { response_format: { type: 'text' } },
  ].entries()) {
    socket.send({ type: 'message', content: 'Hello', ...wrong });
    const refused = await socket.until('error', index + 1);
    expect(JSON.stringify(refused)).toContain(Object.keys(wrong)[0]);
  }
  socket.socket.terminate();
  expect(model.requests).toHaveLength(1);
});

test('an agent sets options for its messages, which may set others', async () => {
  const own = { temperature: 0.1, top_p: 0.5, stop: ['STOP'], tool_choice: 'none', max_output_tokens: 99 };
  const settings = Object.fromEntries(
    Object.entries(own).map(([key, value]) => [`agents.terse.${key}`, value]),
  );
  expect((await gateway.b.patch('/config', settings)).status).toBe(200);
  const { body } = await gateway.b.post<{ id: string }>('/sessions', { agent: 'terse' });
  const path = `/sessions/${body.id}/messages`;
  expect((await gateway.b.post(path, { content: 'Where?' })).status).toBe(200);
  expect((await gateway.b.post(path, { content: 'Where?', temperature: 0.9, stop: ['END'] })).status).toBe(
    200,
  );
  expect((await gateway.b.post(path, { content: 'Where?', max_output_tokens: 100 })).status).toBe(400);
  const [first, second] = model.requests.map((request) => request.body);
  expect(first).toMatchObject({ temperature: 0.1, top_p: 0.5, stop: ['STOP'], tool_choice: 'none' });
  expect([first?.['max_tokens'], first?.['max_completion_tokens']]).toContain(99);
  expect(second).toMatchObject({ temperature: 0.9, top_p: 0.5, stop: ['END'], tool_choice: 'none' });
  const refused = await gateway.b.patch<Answer>('/config', { 'agents.terse.models': ['gpt-5.4'] });
  expect(refused.status).toBe(400);
  for (const name of ['temperature', 'top_p']) expect(refused.body.error?.message).toContain(name);
});

/** @returns the responses to creating a session of this agent with this model, and to a message with these options */
async function taken(session: object, options: object) {
  const created = await gateway.b.post<Answer & { id: string }>('/sessions', session);
  if (created.status !== 201) return { created, said: undefined };
  const said = await gateway.b.post<Answer>(`/sessions/${created.body.id}/messages`, {
    content: 'Where?',
    ...options,
  });
  return { created, said };
}

test('whether a model takes an option of a message depends on how its agent has it reason', async () => {
  for (const [name, reasoning] of [
    ['calm', 'none'],
    ['keen', 'low'],
  ]) {
    const agent = { [`agents.${name}.models`]: ['gpt-5.6'], [`agents.${name}.reasoning`]: reasoning };
    expect((await gateway.b.patch('/config', agent)).status).toBe(200);
  }
  const calm = await taken({ agent: 'calm' }, { temperature: 0.2 });
  expect(calm.said?.status).toBe(200);
  expect(model.requests.at(-1)?.body).toMatchObject({ temperature: 0.2, reasoning_effort: 'none' });
  const keen = await taken({ agent: 'keen' }, { temperature: 0.2 });
  expect([keen.said?.status, keen.said?.body.error?.message]).toEqual([
    400,
    expect.stringContaining('temperature: gpt-5.6 does not take it while it reasons'),
  ]);
});

test('a model that does not take what its agent asks of it is refused when the session names it', async () => {
  const agent = { 'agents.deep.models': ['gpt-5.6'], 'agents.deep.reasoning': 'high' };
  expect((await gateway.b.patch('/config', agent)).status).toBe(200);
  const create = (model: string) => gateway.a.post<Answer>('/sessions', { agent: 'deep', model });
  const refused = await create('gpt-4.1');
  expect([refused.status, refused.body.error?.message]).toEqual([
    400,
    expect.stringContaining('reasoning: gpt-4.1 does not reason'),
  ]);
  expect((await create('gpt-5.1')).status).toBe(201);
});

test('a tool that the turn would not be offered cannot be demanded', async () => {
  gateway.tools.register({
    name: 'look_up',
    description: 'Looks up.',
    inputSchema: { type: 'object' },
    run: () => Promise.resolve('found'),
  });
  expect((await gateway.b.patch('/config', { 'agents.shy.tools.deny': ['look_up'] })).status).toBe(200);
  const options = { tool_choice: { name: 'look_up' } };
  expect((await taken({}, options)).said?.status).toBe(200);
  const { said } = await taken({ agent: 'shy' }, options);
  expect([said?.status, said?.body.error?.message]).toEqual([
    400,
    expect.stringContaining('tool_choice: there is no tool "look_up"'),
  ]);
});

test('a message that was accepted is answered as it wanted to be', async () => {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
  const path = `/sessions/${body.id}/messages`;
  const send = { content: 'Where, late?', response_format: format() };
  const prefer = { prefer: 'respond-async' };
  const accepted = await Promise.all([1, 2, 3].map(() => gateway.b.post(path, send, prefer)));
  expect(accepted.map(({ status }) => status)).toEqual([202, 202, 202]);
  const answers = async () =>
    (await gateway.b.get<{ messages: { role: string; content: string }[] }>(path)).body.messages
      .filter(({ role }) => role === 'assistant')
      .map(({ content }) => content);
  await eventually(async () => expect(await answers()).toEqual(Array(3).fill('{"city":"Oslo"}')));
});
