import type OpenAI from 'openai';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import type { JudgingModel } from '../../harness/judging-model.js';
import { openAiClient, refusalOf, startEchoModel } from '../../harness/openai-face.js';

/** "`metadata.session_id` or header `X-Session-Id` continues a session" (docs/openai.md). */
let model: JudgingModel;
let gateway: TestGateway;
let client: OpenAI;
beforeAll(async () => {
  model = await startEchoModel();
  const agents = '{"support":{"description":"Answers customers"}}';
  gateway = await startTestGateway({ env: { ...model.env, GATEWAY__AGENTS: agents } });
  client = openAiClient(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
});

const weather = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: {} } },
};
type Messages = ChatCompletionCreateParamsNonStreaming['messages'];
const user = (content: string) => ({ role: 'user' as const, content });

async function sessionWith(body: object = {}): Promise<string> {
  return (await gateway.b.post<{ id: string }>('/sessions', body)).body.id;
}

const say = (
  session: string,
  messages: Messages,
  more: Partial<ChatCompletionCreateParamsNonStreaming> = {},
  asked = client,
) =>
  asked.chat.completions.create({ model: 'default', messages, metadata: { session_id: session }, ...more });

async function historyOf(session: string): Promise<string[]> {
  const { body } = await gateway.b.get<{ messages: { role: string; content: string }[] }>(
    `/sessions/${session}/messages`,
  );
  return body.messages.map(({ role, content }) => `${role}: ${content}`);
}

test('"continues a session": it has the history, and what stands behind the last answer is said now', async () => {
  const session = await sessionWith({ user_id: 'ada' });
  await gateway.b.post(`/sessions/${session}/messages`, { content: 'One' });
  const first = await say(session, [{ role: 'system', content: 'Be brief.' }, user('Two')]);
  expect(first.choices[0]!.message.content).toBe('3 messages, the last: Two');
  expect(model.requests.at(-1)!.system).toContain('Be brief.');
  // The whole conversation, as clients send it that also keep it themselves.
  const whole = [user('Two'), first.choices[0]!.message, user('Three')];
  const { data: second } = await client.chat.completions
    .create({ model: 'default', messages: whole }, { headers: { 'X-Session-Id': session } })
    .withResponse();
  expect(second.choices[0]!.message.content).toBe('5 messages, the last: Three');
  expect(second.usage!.total_tokens).toBeGreaterThan(0);
  expect(await historyOf(session)).toEqual([
    ...[
      'user: One',
      'assistant: 1 messages, the last: One',
      'user: Two',
      'assistant: 3 messages, the last: Two',
    ],
    ...['user: Three', 'assistant: 5 messages, the last: Three'],
  ]);
  const [turn] = await gateway.database.query<{ id: string }>(
    'SELECT id FROM turns WHERE session_id = $1 ORDER BY arrival DESC',
    [session],
  );
  expect(second.id).toBe(turn!.id.replace('turn_', 'chatcmpl-'));
});

test('"Streaming": as chunks', async () => {
  const session = await sessionWith();
  const stream = await client.chat.completions.create({
    ...{ model: 'default', messages: [user('Hello')], metadata: { session_id: session }, stream: true },
    stream_options: { include_usage: true },
  });
  let text = '';
  let usage = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    usage += chunk.usage?.total_tokens ?? 0;
  }
  expect([text, (await historyOf(session)).at(-1)]).toEqual([
    '1 messages, the last: Hello',
    'assistant: 1 messages, the last: Hello',
  ]);
  expect(usage).toBeGreaterThan(0);
});

test('"tools (client-run)": the session waits with the calls, and goes on with their outputs once', async () => {
  const session = await sessionWith();
  const asking = [user('call weather and call weather')];
  const first = await say(session, asking, { tools: [weather] });
  const { message } = first.choices[0]!;
  expect(first.choices[0]!.finish_reason).toBe('tool_calls');
  const detail = async () => (await gateway.b.get<{ pending?: string }>(`/sessions/${session}`)).body;
  expect(await detail()).toMatchObject({ status: 'active', pending: 'requires_action' });
  const outputs = message.tool_calls!.map(({ id }) => ({
    ...{ role: 'tool' as const, tool_call_id: id, content: 'rain' },
  }));
  const some = [...asking, message, outputs[0]!];
  expect(await refusalOf(say(session, some, { tools: [weather] }))).toMatchObject({
    status: 400,
    param: 'messages',
  });
  const whole = [...asking, message, ...outputs];
  const ends = await Promise.all(
    [1, 2].map(() =>
      say(session, whole, { tools: [weather] }).then(
        ({ choices }) => choices[0]!.message.content ?? '',
        (error: unknown) => String((error as { status: number }).status),
      ),
    ),
  );
  expect(ends.toSorted()).toEqual(['4 messages, the last:  told rain, rain', '400'].toSorted());
  expect(await detail()).not.toHaveProperty('pending');
  expect(await refusalOf(say(session, whole))).toMatchObject({ status: 400, param: 'messages' });
});

test('after a turn that failed with the outputs they are sent again', async () => {
  const session = await sessionWith();
  const first = await say(session, [user('call weather')], { tools: [weather] });
  const { message } = first.choices[0]!;
  const output = { role: 'tool' as const, tool_call_id: message.tool_calls![0]!.id, content: 'rain' };
  const broken = say(session, [message, output, user('break')], { tools: [weather] });
  expect((await refusalOf(broken)).status).toBeGreaterThan(499);
  const again = await say(session, [message, output], { tools: [weather] });
  expect(again.choices[0]!.message.content).toContain('told rain');
});

test('an Idempotency-Key makes one turn of two requests, whole and as a stream', async () => {
  const session = await sessionWith();
  const once = { headers: { 'Idempotency-Key': 'once-in-a-session' } };
  const body = { model: 'default', messages: [user('Once')], metadata: { session_id: session } };
  const first = await client.chat.completions.create(body, once);
  const { data: again, response } = await client.chat.completions.create(body, once).withResponse();
  expect([again.id, again.choices]).toEqual([first.id, first.choices]);
  expect(response.headers.get('idempotency-replayed')).toBe('true');
  const streamed = { headers: { 'Idempotency-Key': 'once-streamed' } };
  const texts: string[] = [];
  for (let n = 0; n < 2; n += 1) {
    let text = '';
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true }, streamed))
      text += chunk.choices[0]?.delta.content ?? '';
    texts.push(text);
  }
  expect(texts).toEqual(['3 messages, the last: Once', '3 messages, the last: Once']);
  expect(await historyOf(session)).toHaveLength(4);
});

test('two at once have their turns one after the other', async () => {
  const session = await sessionWith();
  const answers = await Promise.all(['One', 'Two', 'Three'].map((text) => say(session, [user(text)])));
  const counts = answers.map(({ choices }) => choices[0]!.message.content!.split(' ')[0]);
  expect(counts.sort()).toEqual(['1', '3', '5']);
});

describe('refused by name', () => {
  test("unknown sessions, other people's, and those that ended", async () => {
    const mine = await sessionWith({ user_id: 'ada' });
    const other = openAiClient(gateway, await gateway.mint({ user: 'grace' }));
    const missing = { status: 404, param: 'metadata.session_id', code: 'session_not_found' };
    expect(await refusalOf(say(mine, [user('x')], {}, other))).toEqual(missing);
    expect(await refusalOf(say('sess_1', [user('x')]))).toEqual(missing);
    const named = client.chat.completions.create(
      { model: 'default', messages: [user('x')] },
      { headers: { 'X-Session-Id': 'sess_1' } },
    );
    expect(await refusalOf(named)).toMatchObject({ status: 404, param: 'X-Session-Id' });
    await gateway.b.delete(`/sessions/${mine}`);
    expect((await refusalOf(say(mine, [user('x')]))).status).toBe(409);
  });

  test.each<[string, object, string]>([
    ['model', { model: 'support' }, ''],
    ['model', { model: 'default:another' }, ''],
    ['user', { user: 'grace' }, ''],
    ['max_tokens', { max_tokens: 500_000 }, ''],
    ['messages', { messages: [user('x'), { role: 'assistant', content: 'y' }] }, ''],
    ['messages', { messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'y' }] }, ''],
    ['metadata.session_id', {}, 'sess_other'],
  ])('%s', async (param, more, header) => {
    const session = await sessionWith({ user_id: 'ada' });
    const asked = client.chat.completions.create(
      { model: 'default', messages: [user('x')], metadata: { session_id: session }, ...more },
      { headers: header === '' ? {} : { 'X-Session-Id': header } },
    );
    expect(await refusalOf(asked)).toMatchObject({ status: 400, param });
    expect(await historyOf(session)).toEqual([]);
  });
});
