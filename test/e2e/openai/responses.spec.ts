import type OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { ResponseInput, ResponseOutputItem } from 'openai/resources/responses/responses';
import { z } from 'zod';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import type { JudgingModel } from '../../harness/judging-model.js';
import { openAiClient, refusalOf, startEchoModel } from '../../harness/openai-face.js';

const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
};

let model: JudgingModel;
let gateway: TestGateway;
let client: OpenAI;
beforeAll(async () => {
  model = await startEchoModel();
  gateway = await startTestGateway({ env: model.env });
  client = openAiClient(gateway, gateway.token, 'b');
});
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
});

const place = {
  ...{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  additionalProperties: false,
};
const unstored = { model: 'default', store: false };

test('create: text and instructions', async () => {
  const response = await client.responses.create({
    ...unstored,
    instructions: 'Be brief.',
    input: 'Hello',
    metadata: { ticket: '7' },
  });
  expect(response).toMatchObject({
    object: 'response',
    status: 'completed',
    model: 'default',
    store: false,
    output_text: '1 messages, the last: Hello',
    metadata: { ticket: '7' },
    error: null,
    incomplete_details: null,
  });
  expect(response.id).toMatch(/^resp_/);
  expect(response.usage!.total_tokens).toBeGreaterThan(0);
  expect(model.requests.at(-1)!.system).toContain('Be brief.');
});

test('create: items, with a picture and a file', async () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await client.responses.create({
    ...unstored,
    input: [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Three' },
          { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
          { type: 'input_file', filename: 'note.txt', file_data: `data:text/plain;base64,${btoa('noon')}` },
        ],
      },
    ],
  });
  const { messages } = model.requests.at(-1)!;
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(messages.at(-1)!.media).toHaveLength(1);
  expect(messages.at(-1)!.text).toContain('noon');
});

test('stream: the events in their order, numbered, as the SDK puts them together', async () => {
  const stream = client.responses.stream({ ...unstored, input: 'Hello' });
  const types: string[] = [];
  const numbers: number[] = [];
  for await (const event of stream) {
    types.push(event.type);
    numbers.push(event.sequence_number);
  }
  expect((await stream.finalResponse()).output_text).toBe('1 messages, the last: Hello');
  expect(types.slice(0, 4)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
  ]);
  expect(types.slice(-4)).toEqual([
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
  expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
});

test('a turn that fails in a stream is reported as response.failed', async () => {
  const types: string[] = [];
  for await (const event of await client.responses.create({ ...unstored, input: 'break', stream: true })) {
    types.push(event.type);
  }
  expect(types.at(-1)).toBe('response.failed');
});

test.each([false, true])(
  'tools of type function: the client runs them, and the model goes on (stream: %s)',
  async (isStream) => {
    const input: ResponseInput = [{ role: 'user', content: 'call weather and call weather' }];
    const body = { ...unstored, input, tools: [weather] };
    const first: { readonly output: readonly ResponseOutputItem[] } = isStream
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body);
    const calls = first.output.filter((item) => item.type === 'function_call');
    expect(calls).toHaveLength(2);
    expect(calls[0]).toMatchObject({ name: 'weather', arguments: '{"city":"Oslo"}', status: 'completed' });
    const second = await client.responses.create({
      ...unstored,
      tools: [weather],
      input: [
        ...input,
        ...calls.map(({ type, call_id, name, arguments: args }) => ({
          type,
          call_id,
          name,
          arguments: args,
        })),
        ...calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'rain' })),
      ],
    });
    expect(second.output_text).toContain('told rain, rain');
  },
);

test('text.format: the answer is JSON of the schema, as the SDK parses it', async () => {
  const response = await client.responses.parse({
    ...unstored,
    input: 'Where?',
    text: { format: zodTextFormat(z.object({ city: z.string() }), 'place') },
  });
  expect(response.output_parsed).toEqual({ city: 'Oslo' });
});

test('"nothing is stored but usage and audit"', async () => {
  const [row] = await gateway.database.query<{ n: number }>(
    'SELECT (SELECT count(*) FROM sessions)::int + (SELECT count(*) FROM turns)::int AS n',
  );
  expect(row!.n).toBe(0);
});

test.each<[string, object]>([
  ['background', { background: true }],
  ['previous_response_id', { previous_response_id: 'resp_1' }],
  ['conversation', { conversation: 'conv_1' }],
  ['prompt', { prompt: { id: 'p' } }],
  ['max_tool_calls', { max_tool_calls: 3 }],
  ['include[0]', { include: ['message.output_text.logprobs'] }],
  ['reasoning', { reasoning: { effort: 'low' } }],
  ['truncation', { truncation: 'disabled' }],
  ['service_tier', { service_tier: 'priority' }],
  ['stream_options.include_obfuscation', { stream: true, stream_options: { include_obfuscation: true } }],
  [
    'input[0].type',
    {
      input: [
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { role: 'user', content: 'x' },
      ],
    },
  ],
  [
    'input[0].content[0].annotations',
    {
      input: [
        {
          role: 'assistant',
          content: [{ type: 'output_text', text: 'x', annotations: [{ type: 'url_citation' }] }],
        },
        { role: 'user', content: 'x' },
      ],
    },
  ],
  [
    'input[0].content[0].detail',
    {
      input: [
        {
          role: 'user',
          content: [{ type: 'input_image', image_url: 'https://example.com/x.png', detail: 'high' }],
        },
      ],
    },
  ],
  [
    'input[0].output[0].type',
    {
      input: [
        {
          type: 'function_call_output',
          call_id: 'call_1',
          output: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }],
        },
      ],
    },
  ],
  ['text.verbosity', { text: { verbosity: 'low' } }],
  ['tools[0].type', { tools: [{ type: 'web_search' }] }],
  ['max_output_tokens', { max_output_tokens: 500_000 }],
  ['input', { input: [] }],
  ['input', { input: [{ type: 'function_call_output', call_id: 'call_1', output: 'x' }] }],
])('"What is not supported is 400 naming the parameter": %s', async (param, more) => {
  const refusal = await refusalOf(client.responses.create({ ...unstored, input: 'x', ...more }));
  expect([refusal.status, refusal.param]).toEqual([400, param]);
});

describe('what clients commonly send', () => {
  test('hints that change no answer are accepted, and repeated in it', async () => {
    const hints = {
      ...{ prompt_cache_key: 'ada-7', safety_identifier: 'hash-of-ada', truncation: 'auto' as const },
      ...{
        service_tier: 'auto' as const,
        top_logprobs: 0,
        include: ['reasoning.encrypted_content' as const],
      },
    };
    const response = await client.responses.create({
      ...{ ...unstored, ...hints, input: 'Hello', reasoning: {} },
      ...{ text: { verbosity: 'medium' }, stream_options: null, tools: [] },
    });
    expect(response).toMatchObject({
      ...{ output_text: '1 messages, the last: Hello', text: { verbosity: 'medium' } },
      ...{ prompt_cache_key: 'ada-7', safety_identifier: 'hash-of-ada', parallel_tool_calls: true },
    });
    const { body } = model.requests.at(-1)!;
    expect(Object.keys(body)).not.toContain('safety_identifier');
  });

  test('one call of a tool at a time, and the description of the format, are passed to the model', async () => {
    const response = await client.responses.create({
      ...{ ...unstored, input: 'call weather', tools: [weather], parallel_tool_calls: false },
      text: { format: { type: 'json_schema', name: 'place', description: 'Where it is', schema: place } },
    });
    expect(response.parallel_tool_calls).toBe(false);
    const { body } = model.requests.at(-1)!;
    expect(body).toMatchObject({
      parallel_tool_calls: false,
      response_format: { json_schema: { name: 'place', description: 'Where it is', schema: place } },
    });
  });
});

test('an unknown model is 404, a token without sessions:write 403', async () => {
  expect(await refusalOf(client.responses.create({ ...unstored, model: 'nobody', input: 'x' }))).toEqual({
    status: 404,
    param: 'model',
    code: 'model_not_found',
  });
  const reader = openAiClient(gateway, await gateway.mint({ scopes: ['sessions:read'] }));
  expect(await refusalOf(reader.responses.create({ ...unstored, input: 'x' }))).toMatchObject({
    status: 403,
  });
});
