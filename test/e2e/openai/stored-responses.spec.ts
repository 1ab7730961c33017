import type OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses';
import { z } from 'zod';
import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import type { JudgingModel } from '../../harness/judging-model.js';
import { openAiClient, outputsOf, refusalOf, startEchoModel } from '../../harness/openai-face.js';
import { openAiWire } from '../../harness/provider-wires.js';
import {
  beginStream,
  type Script,
  type ScriptedProvider,
  startScriptedProvider,
} from '../../harness/scripted-provider.js';
import { heldAnswer, newSession, providerEnv } from '../../harness/turn-stream.js';

let model: JudgingModel;
let gateway: TestGateway;
let client: OpenAI;
/** A gateway whose model waits until the test lets it answer. */
let slow: TestGateway;
let provider: ScriptedProvider;
let slowClient: OpenAI;
beforeAll(async () => {
  [model, provider] = await Promise.all([startEchoModel(), startScriptedProvider()]);
  [gateway, slow] = await Promise.all([
    startTestGateway({ env: model.env }),
    startTestGateway({ env: providerEnv(provider) }),
  ]);
  client = openAiClient(gateway, gateway.token, 'b');
  slowClient = openAiClient(slow);
});
afterAll(async () => {
  await Promise.all([gateway.stop(), slow.stop()]);
  await Promise.all([model.provider.stop(), provider.stop()]);
});

const agent = { model: 'default' };
/** The user of the response, whom OpenAI's newer parameters do not name. */
const USER = { user: 'ada' };

const clientTools = [
  {
    ...{ type: 'function' as const, name: 'weather', strict: false },
    parameters: { type: 'object', properties: {} },
  },
];

function sessionsOf(one: TestGateway): Promise<{ id: string; status: string }[]> {
  return one.database.query<{ id: string; status: string }>('SELECT id, status FROM sessions ORDER BY id');
}

test('"store": a response is kept unless it is said otherwise, and is found as it was answered', async () => {
  const created = await client.responses.create({
    ...agent,
    instructions: 'Be brief.',
    input: 'Hello',
    metadata: { ticket: '7' },
    ...USER,
  });
  expect(created).toMatchObject({
    status: 'completed',
    store: true,
    background: false,
    output_text: '1 messages, the last: Hello',
    metadata: { ticket: '7' },
  });
  const found = await client.responses.retrieve(created.id);
  expect(found).toEqual(created);
  const [session] = await gateway.database.query<{ user_id: string; agent: string }>(
    'SELECT user_id, agent FROM sessions WHERE id = (SELECT session_id FROM turns WHERE id = $1)',
    [created.id.replace('resp_', 'turn_')],
  );
  expect(session).toEqual({ user_id: 'ada', agent: 'default' });
});

test('"`previous_response_id`": a chain is a session, and what was said before is known', async () => {
  const first = await client.responses.create({ ...agent, input: 'One', instructions: 'Only now.' });
  const second = await client.responses.create({ ...agent, input: 'Two', previous_response_id: first.id });
  expect(second.output_text).toBe('3 messages, the last: Two');
  expect(second.previous_response_id).toBe(first.id);
  expect(model.requests.at(-1)!.system).not.toContain('Only now.');
  const third = await client.responses.create({ ...agent, input: 'Three', previous_response_id: second.id });
  expect(third.output_text).toBe('5 messages, the last: Three');
  const sessions = await gateway.database.query('SELECT DISTINCT session_id FROM turns WHERE id = ANY ($1)', [
    [first.id, second.id, third.id].map((id) => id.replace('resp_', 'turn_')),
  ]);
  expect(sessions).toHaveLength(1);
});

test('only one response continues another, even when two ask at once; the error names the other', async () => {
  const first = await client.responses.create({ ...agent, input: 'One' });
  const further = (input: string) =>
    client.responses.create({ ...agent, input, previous_response_id: first.id }).then(
      () => 'answered',
      () => 'refused',
    );
  const ends = await Promise.all([further('Two'), further('Two as well'), further('And two')]);
  expect(ends.sort()).toEqual(['answered', 'refused', 'refused']);
  expect(
    await refusalOf(client.responses.create({ ...agent, input: 'x', previous_response_id: first.id })),
  ).toEqual({ status: 400, param: 'previous_response_id', code: 'invalid_value' });
});

test('after a turn that failed, the same response is gone on with again', async () => {
  const first = await client.responses.create({ ...agent, input: 'One' });
  await refusalOf(client.responses.create({ ...agent, input: 'break', previous_response_id: first.id }));
  const again = await client.responses.create({ ...agent, input: 'Two', previous_response_id: first.id });
  expect(again.output_text).toContain('the last: Two');
});

test('a whole conversation as input begins a session with it: pictures, files, answers, calls and their outputs', async () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const picture = {
    type: 'input_image' as const,
    image_url: `data:image/png;base64,${png}`,
    detail: 'auto' as const,
  };
  const response = await client.responses.create({
    ...agent,
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Look' }, picture] },
      { role: 'assistant', content: 'I see' },
      { role: 'user', content: 'And the weather?' },
      { type: 'function_call', call_id: 'call_w', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'call_w', output: 'rain' },
      { role: 'assistant', content: 'It rains' },
      { role: 'user', content: [{ type: 'input_text', text: 'And this?' }, picture] },
    ],
  });
  expect(response.status).toBe('completed');
  const { messages } = model.requests.at(-1)!;
  expect(messages.map(({ text }) => text).filter(Boolean)).toEqual([
    expect.stringContaining('Look'),
    'I see',
    'And the weather?',
    'It rains',
    expect.stringContaining('And this?'),
  ]);
  expect(messages.flatMap(({ media }) => media)).toHaveLength(2);
  expect(messages.flatMap(({ results }) => results)).toEqual([{ callId: 'call_w', content: 'rain' }]);
  const next = await client.responses.create({ ...agent, input: 'x', previous_response_id: response.id });
  expect(next.output_text).toContain('told rain');
});

test('items of stored responses by their ids, as clients send them that keep the conversation themselves', async () => {
  const weather = {
    type: 'function' as const,
    name: 'weather',
    parameters: { type: 'object', properties: {} },
  };
  const tools = [{ ...weather, strict: false }];
  const spoken = await client.responses.create({ ...agent, input: 'One' });
  const asked = await client.responses.create({ ...agent, input: 'call weather', tools });
  const [said, call] = [spoken.output[0]!, asked.output[0]!];
  const reference = (item: { readonly id?: string | null }) => ({
    type: 'item_reference' as const,
    id: item.id!,
  });
  const input = [
    { role: 'user' as const, content: 'One' },
    reference(said),
    { role: 'user' as const, content: 'call weather' },
    reference(call),
    {
      type: 'function_call_output' as const,
      call_id: call.type === 'function_call' ? call.call_id : '',
      output: 'rain',
    },
  ];
  const response = await client.responses.create({ ...agent, input, tools });
  expect(response.output_text).toContain('told rain');
  expect(model.requests.at(-1)!.messages.map(({ text }) => text)).toContain(spoken.output_text);
  const other = openAiClient(gateway, await gateway.mint({ user: 'grace' }));
  for (const [from, id] of [
    [other, said.id],
    [client, `msg_${'0'.repeat(26)}`],
    [client, `${call.id}9`],
    [client, 'x'],
  ] as const) {
    const unknown = [
      { type: 'item_reference' as const, id: String(id) },
      { role: 'user' as const, content: 'x' },
    ];
    expect(await refusalOf(from.responses.create({ ...agent, input: unknown }))).toEqual({
      status: 404,
      param: 'input[0]',
      code: 'item_not_found',
    });
  }
  expect(await refusalOf(client.responses.create({ ...agent, input, store: false }))).toMatchObject({
    status: 400,
    param: 'input[1]',
  });
});

test('stream: the events, and the stored response once more from any of them on', async () => {
  const stream = client.responses.stream({ ...agent, input: 'Hello' });
  const events: { type: string; sequence_number: number }[] = [];
  for await (const event of stream) events.push(event);
  const final = await stream.finalResponse();
  expect(final.output_text).toBe('1 messages, the last: Hello');
  const numbers = events.map(({ sequence_number: n }) => n);
  expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
  const deltaOf = (list: readonly object[]) =>
    list.map((event) => ('delta' in event ? String(event.delta) : '')).join('');
  for (const { sequence_number: after } of events) {
    const rest: { type: string; sequence_number: number }[] = [];
    const again = await client.responses.retrieve(final.id, { stream: true, starting_after: after });
    for await (const event of again) rest.push(event);
    expect(rest.every(({ sequence_number: n }) => n > after)).toBe(true);
    const seen = events.filter(({ sequence_number: n }) => n <= after);
    expect(deltaOf(seen) + deltaOf(rest)).toBe(final.output_text);
    const types = new Set([...seen, ...rest].map(({ type }) => type));
    expect(types).toEqual(new Set(events.map(({ type }) => type)));
  }
});

test('a stream of a call alone goes on behind any of its events as it was', async () => {
  interface Shown {
    readonly type: string;
    readonly sequence_number: number;
  }
  const shapeOf = (event: Shown) => [
    ...[event.type, event.sequence_number],
    'output_index' in event ? event.output_index : undefined,
  ];
  const events: Shown[] = [];
  const stream = client.responses.stream({ ...agent, input: 'call weather', tools: clientTools });
  for await (const event of stream) events.push(event);
  const { id } = await stream.finalResponse();
  for (const [index, { sequence_number: after }] of events.entries()) {
    const rest: Shown[] = [];
    const again = await client.responses.retrieve(id, { stream: true, starting_after: after });
    for await (const event of again) rest.push(event);
    expect(rest.map(shapeOf)).toEqual(events.slice(index + 1).map(shapeOf));
  }
});

test('"`background`": answered at once, found until it is done, and followed meanwhile', async () => {
  const held = heldAnswer();
  provider.script(held.script);
  const accepted = await slowClient.responses.create({ ...agent, input: 'Hello', background: true });
  expect(['queued', 'in_progress']).toContain(accepted.status);
  expect([accepted.background, accepted.output, accepted.usage]).toEqual([true, [], null]);
  held.say('So far, ');
  const stream = await slowClient.responses.retrieve(accepted.id, { stream: true });
  let text = '';
  let last = 0;
  for await (const event of stream) {
    last = event.sequence_number;
    if (event.type !== 'response.output_text.delta') continue;
    text += event.delta;
    if (text.endsWith('So far, ')) break;
  }
  held.say('so good.');
  held.finish();
  const rest = await slowClient.responses.retrieve(accepted.id, { stream: true, starting_after: last });
  let final: OpenAiResponse | undefined;
  for await (const event of rest) {
    if (event.type === 'response.output_text.delta') text += event.delta;
    if (event.type === 'response.completed') final = event.response;
  }
  expect(text).toBe('So far, so good.');
  const done = await slowClient.responses.retrieve(accepted.id);
  expect(done.output_text).toBe('So far, so good.');
  expect(final?.output).toEqual(done.output);
});

test('`background` with `stream`: the events of its turn', async () => {
  const types: string[] = [];
  const stream = await client.responses.create({ ...agent, input: 'Hi', background: true, stream: true });
  for await (const event of stream) types.push(event.type);
  expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed']);
});

const thanks: Script = (response) => {
  beginStream(response, ...openAiWire.opening, openAiWire.text('Thanks'), ...openAiWire.closing);
  response.end();
};

function endWithCall(response: Parameters<Script>[0]): void {
  const reason = { model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
  beginStream(response, openAiWire.argument('{}', true), reason, ...openAiWire.closing.slice(1));
  response.end();
}

test('outputs that are cancelled while they wait in line can be sent again', async () => {
  provider.script(endWithCall);
  const first = await slowClient.responses.create({ ...agent, input: 'Hello', tools: clientTools });
  const input = outputsOf(first);
  // Another turn of this token runs, so the outputs have to wait.
  const held = heldAnswer();
  provider.script(held.script);
  const asked = provider.requests.length;
  const busy = await slowClient.responses.create({ ...agent, input: 'Hi', background: true });
  await eventually(() => expect(provider.requests.length).toBeGreaterThan(asked));
  await slow.b.patch('/config', { 'limits.turns_per_api_token': 1 });
  const outputs = { ...agent, tools: clientTools, input, previous_response_id: first.id };
  const waiting = await slowClient.responses.create({ ...outputs, background: true });
  expect(waiting.status).toBe('queued');
  expect((await slowClient.responses.cancel(waiting.id)).status).toBe('cancelled');
  await slow.b.patch('/config', { 'limits.turns_per_api_token': null });
  held.finish();
  await eventually(async () => {
    expect((await slowClient.responses.retrieve(busy.id)).status).toBe('completed');
  });
  provider.script(thanks);
  expect((await slowClient.responses.create(outputs)).output_text).toBe('Thanks');
});

test('outputs go before a message that came meanwhile and stands in line', async () => {
  let finish = (): void => undefined;
  provider.script((response) => {
    beginStream(response, ...openAiWire.opening);
    finish = () => endWithCall(response);
  }, thanks);
  const asked = provider.requests.length;
  const first = await slowClient.responses.create({
    ...agent,
    input: 'Hello',
    tools: clientTools,
    background: true,
  });
  await eventually(() => expect(provider.requests.length).toBeGreaterThan(asked));
  const turnId = first.id.replace('resp_', 'turn_');
  const turnsOf = () =>
    slow.database.query<{ session_id: string; status: string }>(
      'SELECT session_id, status FROM turns WHERE session_id = (SELECT session_id FROM turns WHERE id = $1)',
      [turnId],
    );
  const session = (await turnsOf())[0]?.session_id ?? '';
  const also = await slow.b.post(
    `/sessions/${session}/messages`,
    { content: 'And also' },
    { prefer: 'respond-async' },
  );
  expect(also.status).toBe(202);
  finish();
  await eventually(async () => {
    expect((await slowClient.responses.retrieve(first.id)).status).toBe('completed');
  });
  const input = outputsOf(await slowClient.responses.retrieve(first.id));
  expect((await turnsOf()).map(({ status }) => status)).toContain('waiting');
  const next = await slowClient.responses.create({
    ...agent,
    tools: clientTools,
    input,
    previous_response_id: first.id,
  });
  expect(next.output_text).toBe('Thanks');
  await eventually(async () => {
    expect((await turnsOf()).map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  });
});

test('a request that a budget refuses stores nothing', async () => {
  await gateway.b.patch('/config', { 'limits.api_tokens.thrifty.daily_tokens': 1 });
  const thrifty = openAiClient(gateway, await gateway.mint({ name: 'thrifty' }));
  await thrifty.responses.create({ ...agent, input: 'One' });
  const before = await sessionsOf(gateway);
  for (const background of [false, true]) {
    const input = [
      { role: 'user' as const, content: 'One' },
      { role: 'assistant' as const, content: 'Two' },
      { role: 'user' as const, content: 'Three' },
    ];
    expect(await refusalOf(thrifty.responses.create({ ...agent, input, background }))).toMatchObject({
      ...{ status: 429, code: 'api_token_budget' },
    });
  }
  expect(await sessionsOf(gateway)).toEqual(before);
  await gateway.b.patch('/config', { 'limits.api_tokens.thrifty.daily_tokens': null });
});

test('cancel: a response that runs, and one that waits in line; what is over stays as it is', async () => {
  const held = heldAnswer();
  provider.script(held.script);
  const running = await slowClient.responses.create({ ...agent, input: 'Hello', background: true });
  held.say('Half of it');
  await eventually(async () => {
    expect((await slowClient.responses.retrieve(running.id)).status).toBe('in_progress');
  });
  const waiting = await slowClient.responses.create({
    ...agent,
    input: 'And then?',
    background: true,
    previous_response_id: running.id,
  });
  expect(waiting.status).toBe('queued');
  expect((await slowClient.responses.cancel(waiting.id)).status).toBe('cancelled');
  const cancelled = await slowClient.responses.cancel(running.id);
  expect(cancelled).toMatchObject({ status: 'cancelled', error: { code: 'turn_cancelled' } });
  expect((await slowClient.responses.retrieve(waiting.id)).status).toBe('cancelled');
  expect(await slowClient.responses.cancel(running.id)).toEqual(cancelled);
  const events: string[] = [];
  for await (const event of await slowClient.responses.retrieve(running.id, { stream: true }))
    events.push(event.type);
  expect(events.at(-1)).toBe('response.failed');
});

test('DELETE: no one finds it any more, and with the last one its session ends', async () => {
  const first = await client.responses.create({ ...agent, input: 'One' });
  const second = await client.responses.create({ ...agent, input: 'Two', previous_response_id: first.id });
  const session = (await sessionsOf(gateway)).at(-1)!;
  await client.responses.delete(first.id);
  expect(await refusalOf(client.responses.retrieve(first.id))).toEqual({
    status: 404,
    param: 'id',
    code: 'response_not_found',
  });
  const status = async () => (await sessionsOf(gateway)).find(({ id }) => id === session.id)?.status;
  expect(await status()).toBe('active');
  await client.responses.delete(second.id);
  expect(await status()).toBe('terminated');
});

test('parse: the answer is JSON of the schema, and stays so', async () => {
  const response = await client.responses.parse({
    ...agent,
    input: 'Where?',
    text: { format: zodTextFormat(z.object({ city: z.string() }), 'place') },
  });
  expect(response.output_parsed).toEqual({ city: 'Oslo' });
  expect((await client.responses.retrieve(response.id)).output_text).toBe('{"city":"Oslo"}');
});

test('an Idempotency-Key makes one response of two requests, whole and in the background', async () => {
  const count = async () => (await sessionsOf(gateway)).length;
  const before = await count();
  for (const background of [false, true]) {
    const send = () =>
      client.responses.create(
        { ...agent, input: 'Once', background },
        { headers: { 'Idempotency-Key': `once-${background}` } },
      );
    const first = await send();
    await eventually(async () => {
      expect((await client.responses.retrieve(first.id)).status).toBe('completed');
    });
    expect((await send()).id).toBe(first.id);
  }
  expect((await count()) - before).toBe(2);
});

test('"foreign response ids, other people\'s responses: OpenAI\'s error shape, 404"', async () => {
  const mine = await client.responses.create({ ...agent, input: 'Mine', ...USER });
  const scopes = ['sessions:read', 'sessions:write'] as const;
  const other = openAiClient(gateway, await gateway.mint({ user: 'grace', scopes }));
  const own = openAiClient(gateway, await gateway.mint({ user: 'ada', scopes }));
  expect((await own.responses.retrieve(mine.id)).output_text).toBe(mine.output_text);
  const unknown = [mine.id, `resp_${'0'.repeat(26)}`, 'resp_x', 'turn_x', mine.id.replace('resp_', 'turn_')];
  for (const id of unknown) {
    const missing = { status: 404, param: 'id', code: 'response_not_found' };
    const asked = id === mine.id ? other : client;
    expect(await refusalOf(asked.responses.retrieve(id))).toEqual(missing);
    expect(await refusalOf(asked.responses.cancel(id))).toEqual(missing);
    expect(await refusalOf(asked.responses.delete(id))).toEqual(missing);
    const further = asked.responses.create({ ...agent, input: 'x', previous_response_id: id });
    expect(await refusalOf(further)).toEqual({
      status: 404,
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    });
  }
  // A turn that did not begin with a response is not one.
  const session = await newSession(gateway);
  await gateway.a.post(`/sessions/${session}/messages`, { content: 'x' });
  const [turn] = await gateway.database.query<{ id: string }>('SELECT id FROM turns WHERE session_id = $1', [
    session,
  ]);
  expect(await refusalOf(client.responses.retrieve(turn!.id.replace('turn_', 'resp_')))).toMatchObject({
    status: 404,
  });
});

test.each<[string, object]>([
  ['previous_response_id', { store: false, previous_response_id: 'resp_1' }],
  ['background', { store: false, background: true, previous_response_id: undefined }],
  ['user', { user: 'somebody' }],
  ['input', { input: [{ role: 'assistant', content: 'x' }] }],
  ['input', { input: [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }] }],
  ['input', { input: '' }],
  ['input', { input: [] }],
])('"What is not supported is 400 naming the parameter": %s of one that goes on', async (param, more) => {
  const previous = await client.responses.create({ ...agent, input: 'One', ...USER });
  const asked = { ...agent, input: 'x', previous_response_id: previous.id, ...more };
  expect(await refusalOf(client.responses.create(asked))).toMatchObject({ status: 400, param });
});

test.each([
  ['starting_after', '?starting_after=1'],
  ['starting_after', '?stream=true&starting_after=-1'],
  ['stream', '?stream=yes'],
  ['include[]', '?include[]=x'],
  ['other', '?other=1'],
])('a query that is not supported is refused by name: %s (%s)', async (param, query) => {
  const { id } = await client.responses.create({ ...agent, input: 'One' });
  const answer = await fetch(`${client.baseURL}/responses/${id}${query}`, {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  const { error } = (await answer.json()) as { error: { param: string } };
  expect([answer.status, error.param]).toEqual([400, param]);
});
