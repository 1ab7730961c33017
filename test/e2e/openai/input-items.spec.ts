import type OpenAI from 'openai';
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses';
import { InputItemsStore } from '../../../src/areas/openai/stored/input-items.store.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import type { JudgingModel } from '../../harness/judging-model.js';
import { openAiClient, refusalOf, startEchoModel } from '../../harness/openai-face.js';
import { rowsRead } from '../../harness/rows-read.js';

/** "A list of items used to generate this response" (OpenAI's API, List input items). */
let model: JudgingModel;
let gateway: TestGateway;
let client: OpenAI;
beforeAll(async () => {
  model = await startEchoModel();
  gateway = await startTestGateway({ env: model.env });
  client = openAiClient(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
});

const agent = { model: 'default' };
const weather = {
  ...{ type: 'function' as const, name: 'weather', strict: false },
  parameters: { type: 'object', properties: {} },
};
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The parameter that clients still send, although the SDK has deprecated it. */
const ADA: object = { user: 'ada' };

type Item = Awaited<ReturnType<typeof itemsOf>>[number];

async function itemsOf(
  { id }: { readonly id: string },
  query: { order?: 'asc' | 'desc'; limit?: number; after?: string } = { order: 'asc' },
) {
  const { data } = await client.responses.inputItems.list(id, query);
  return data;
}

/** An item in one word. */
function told(item: Item): string {
  if (item.type === 'function_call') return `calls ${item.name}`;
  if (item.type === 'function_call_output') return `got ${item.output as string}`;
  if (item.type !== 'message') return item.type;
  const parts = item.content.map((part) => ('text' in part ? part.text : part.type));
  return `${item.role}: ${parts.join(' + ')}`;
}

const callOf = ({ output }: OpenAiResponse) =>
  output.flatMap((item) => (item.type === 'function_call' ? [item] : []))[0]!;

test('what a response answered: its own input, after all that its conversation had said', async () => {
  const first = await client.responses.create({ ...agent, input: 'call weather', tools: [weather] });
  const call = callOf(first);
  const second = await client.responses.create({
    ...{ ...agent, tools: [weather], previous_response_id: first.id },
    input: [{ type: 'function_call_output', call_id: call.call_id, output: 'rain' }],
  });
  const third = await client.responses.create({ ...agent, input: 'More', previous_response_id: second.id });
  expect((await itemsOf(first)).map(told)).toEqual(['user: call weather']);
  expect((await itemsOf(second)).map(told)).toEqual(['user: call weather', 'calls weather', 'got rain']);
  const items = await itemsOf(third);
  expect(items.map(told)).toEqual([
    ...['user: call weather', 'calls weather', 'got rain'],
    ...[`assistant: ${second.output_text}`, 'user: More'],
  ]);
  // Items from responses keep their ids.
  expect([items[1]!.id, items[3]!.id]).toEqual([call.id, second.output[0]!.id]);
  expect(items.every((item) => 'status' in item && item.status === 'completed')).toBe(true);
});

test('a whole conversation that was sent: pictures and files by their names, calls and their outputs in full', async () => {
  const long = 'x'.repeat(20_000);
  const response = await client.responses.create({
    ...agent,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
          { type: 'input_file', file_data: btoa('noon'), filename: 'note.txt' },
        ],
      },
      { role: 'assistant', content: 'I see' },
      { role: 'user', content: 'And the weather?' },
      { type: 'function_call', call_id: 'call_w', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'call_w', output: long },
      { role: 'user', content: 'So?' },
    ],
  });
  const items = await itemsOf(response);
  expect(items.map(told)).toEqual([
    ...['user: Look + input_image + input_file', 'assistant: I see', 'user: And the weather?'],
    ...['calls weather', `got ${long}`, 'user: So?'],
  ]);
  expect(items[0]).toMatchObject({ content: [{}, { detail: 'auto' }, { filename: 'note.txt' }] });
  expect(items[3]).toMatchObject({ call_id: 'call_w', arguments: '{"city":"Oslo"}' });
});

test('pages: newest first unless it is said otherwise, 20 of them, and on after any item', async () => {
  const said = Array.from({ length: 15 }, (_, n) => [
    { role: 'user' as const, content: `Ask ${n}` },
    { role: 'assistant' as const, content: `Say ${n}` },
  ]).flat();
  const response = await client.responses.create({
    ...agent,
    input: [...said, { role: 'user', content: 'Now' }],
  });
  const first = await client.responses.inputItems.list(response.id);
  expect([first.data.length, first.has_more, told(first.data[0]!)]).toEqual([20, true, 'user: Now']);
  const all = [...said.map(({ role, content }) => `${role}: ${content}`), 'user: Now'];
  for (const [order, expected] of [
    ['asc', all],
    ['desc', all.toReversed()],
  ] as const) {
    const seen: string[] = [];
    for await (const item of client.responses.inputItems.list(response.id, { order, limit: 4 }))
      seen.push(told(item));
    expect(seen).toEqual(expected);
  }
  const calls = await client.responses.create({
    ...{ ...agent, tools: [weather] },
    input: [
      ...['call_1', 'call_2', 'call_3'].map((id) => ({
        ...{ type: 'function_call' as const, call_id: id, name: 'weather', arguments: '{}' },
      })),
      ...['call_1', 'call_2', 'call_3'].map((id) => ({
        ...{ type: 'function_call_output' as const, call_id: id, output: `of ${id}` },
      })),
    ],
  });
  const items = await itemsOf(calls);
  expect(items.map(told)).toEqual([
    ...['calls weather', 'calls weather', 'calls weather'],
    ...['got of call_1', 'got of call_2', 'got of call_3'],
  ]);
  for (const [index, { id }] of items.entries())
    expect(await itemsOf(calls, { order: 'asc', limit: 2, after: id })).toEqual(
      items.slice(index + 1, index + 3),
    );
});

test('one in the background knows what it answers before it has; the body has the first and the last id', async () => {
  const response = await client.responses.create({ ...agent, input: 'One', background: true });
  expect((await itemsOf(response)).map(told)).toEqual(['user: One']);
  const answer = await fetch(`${client.baseURL}/responses/${response.id}/input_items`, {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  const body = (await answer.json()) as { data: { id: string }[] };
  const [item] = body.data;
  expect(body).toEqual({
    object: 'list',
    data: [item],
    first_id: item!.id,
    last_id: item!.id,
    has_more: false,
  });
});

test.each([
  ['limit', '?limit=0'],
  ['limit', '?limit=101'],
  ['order', '?order=up'],
  ['after', '?after=msg_none'],
  ['include[]', '?include[]=message.input_image.image_url'],
  ['include', '?include=message.input_image.image_url'],
  ['before', '?before=x'],
])('"What is not supported is 400 naming the parameter": %s (%s)', async (param, query) => {
  const { id } = await client.responses.create({ ...agent, input: 'One' });
  const answer = await fetch(`${client.baseURL}/responses/${id}/input_items${query}`, {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  const { error } = (await answer.json()) as { error: { param: string } };
  expect([answer.status, error.param]).toEqual([400, param]);
});

test('an item of another conversation is none to go on after', async () => {
  const [one, other] = [
    await client.responses.create({ ...agent, input: 'One' }),
    await client.responses.create({ ...agent, input: 'Other' }),
  ];
  const [item] = await itemsOf(other);
  expect(
    await refusalOf(client.responses.inputItems.list(one.id, { after: item!.id }) as Promise<unknown>),
  ).toEqual({
    ...{ status: 400, param: 'after', code: 'invalid_value' },
  });
});

test('"other people\'s responses: OpenAI\'s error shape, 404"', async () => {
  const mine = await client.responses.create({ ...agent, input: 'Mine', ...ADA });
  const scopes = ['sessions:read'] as const;
  const listed = async (user: string, id = mine.id) =>
    openAiClient(gateway, await gateway.mint({ user, scopes })).responses.inputItems.list(
      id,
    ) as Promise<unknown>;
  expect(await listed('ada')).toMatchObject({ data: [{ role: 'user' }] });
  const missing = { status: 404, param: 'id', code: 'response_not_found' };
  expect(await refusalOf(listed('grace'))).toEqual(missing);
  expect(await refusalOf(listed('ada', 'resp_x'))).toEqual(missing);
  await client.responses.delete(mine.id);
  expect(await refusalOf(listed('ada'))).toEqual(missing);
});

test('a page of a long conversation reads about as many messages as it has, wherever it is', async () => {
  const { id } = await client.responses.create({ ...agent, input: 'The last of many' });
  const { database } = gateway;
  const [turn] = await database.query<{ session: string; message: string }>(
    `SELECT session_id AS session, user_message_id AS message FROM turns WHERE id = '${id.replace('resp_', 'turn_')}'`,
  );
  const input = { sessionId: turn!.session, userMessageId: turn!.message };
  await database.query(`UPDATE messages SET seq = seq + 20000 WHERE session_id = '${turn!.session}'`);
  await database.query(
    `INSERT INTO messages (id, session_id, turn_id, role, content, attachments, seq)
     SELECT 'msg_many_' || n, '${turn!.session}', 'earlier', 'user', 'x', '[]', n FROM generate_series(1, 20000) AS n`,
  );
  await database.query('ANALYZE messages');
  const limit = 21;
  for (const isNewestFirst of [true, false])
    for (const from of [undefined, 300, 10_000, 19_800]) {
      const read = await rowsRead(database, 'messages', async (counting) => {
        const page = await new InputItemsStore(counting).page(input, { from, isNewestFirst, limit });
        expect(page).toHaveLength(limit);
      });
      expect([isNewestFirst, from, read <= limit * 2]).toEqual([isNewestFirst, from, true]);
    }
  const read = await rowsRead(database, 'messages', (counting) =>
    new InputItemsStore(counting).placeOf(input, 'many_9000'),
  );
  expect(read).toBeLessThan(limit);
});
