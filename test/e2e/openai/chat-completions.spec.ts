import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import { z } from 'zod';
import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import type { JudgingModel } from '../../harness/judging-model.js';
import { openAiClient, refusalOf, startEchoModel } from '../../harness/openai-face.js';

const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const AGENTS =
  '{"support":{"description":"Answers customers","models":["m","m2"]},"private":{"users":["eve"]}}';

let model: JudgingModel;
let gateway: TestGateway;
let client: OpenAI;
beforeAll(async () => {
  model = await startEchoModel();
  gateway = await startTestGateway({ env: { ...model.env, GATEWAY__AGENTS: AGENTS } });
  client = openAiClient(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
});

const count = async (table: string): Promise<number> => {
  const [row] = await gateway.database.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`);
  return row!.n;
};
/** The parameter that clients still send, although the SDK has deprecated it. */
const as = (user: string): object => ({ user });
const ask = (more: Partial<ChatCompletionCreateParamsNonStreaming> = {}) =>
  client.chat.completions.create({
    model: 'default',
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  });

describe.each(['a', 'b'] as const)('/v1 on the port of Profile %s', (port) => {
  test('"/v1/models lists the agents that the caller may use"', async () => {
    const names = async (token: string) =>
      (await openAiClient(gateway, token, port).models.list()).data.map(({ id }) => id);
    expect(await names(gateway.token)).toEqual(['default', 'support']);
    expect(await names(await gateway.mint({ agents: ['support'] }))).toEqual(['support']);
    expect(await names(await gateway.mint({ user: 'eve' }))).toEqual(['default', 'support', 'private']);
    expect(await openAiClient(gateway, gateway.token, port).models.retrieve('support')).toMatchObject({
      id: 'support',
    });
  });

  test('"the messages are the history": the agent answers them under its own system prompt', async () => {
    const completion = await openAiClient(gateway, gateway.token, port).chat.completions.create({
      model: 'default',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: 'Three' },
      ],
    });
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'default',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: '3 messages, the last: Three', refusal: null },
        },
      ],
    });
    expect(completion.usage!.total_tokens).toBeGreaterThan(0);
    const { system } = model.requests.at(-1)!;
    expect(system).toContain('You are a helpful assistant.');
    expect(system).toContain('Be brief.');
  });
});

test('"nothing is stored but usage and audit"', async () => {
  const before = await Promise.all(['sessions', 'messages', 'turns', 'turn_steps', 'events'].map(count));
  const marker = 'a-word-that-is-nowhere';
  await ask({ messages: [{ role: 'user', content: marker }], ...as('ada') });
  expect(await Promise.all(['sessions', 'messages', 'turns', 'turn_steps', 'events'].map(count))).toEqual(
    before,
  );
  await eventually(async () => {
    const { body } = await gateway.admin.get<{ items: { user: string; turns: number }[] }>('/usage?by=user');
    expect(body.items).toContainEqual(expect.objectContaining({ user: 'ada', turns: 1 }));
  });
  expect(gateway.logLines.some((line) => line.includes(marker))).toBe(false);
});

test('"Streaming": chunks as the SDK reads them, with usage when it is asked for', async () => {
  const stream = await client.chat.completions.create({
    model: 'default',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  const finishes: string[] = [];
  let usage = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    finishes.push(...chunk.choices.flatMap(({ finish_reason: why }) => why ?? []));
    usage = chunk.usage?.total_tokens ?? usage;
  }
  expect([text, finishes]).toEqual(['1 messages, the last: Hello', ['stop']]);
  expect(usage).toBeGreaterThan(0);
});

test('a turn that fails is an error before the stream has begun or within it, in the shape of OpenAI', async () => {
  const messages = [{ role: 'user' as const, content: 'break' }];
  expect(await refusalOf(ask({ messages }))).toMatchObject({ status: 502 });
  const stream = await client.chat.completions.create({ model: 'default', messages, stream: true });
  await expect(
    (async () => {
      for await (const { choices } of stream) expect(choices).toBeDefined();
    })(),
  ).rejects.toBeInstanceOf(OpenAI.APIError);
});

describe('"tools (client-run)"', () => {
  test('the model is offered them, its calls are the answer, and it goes on with their outputs', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'call weather' }];
    const first = await ask({ messages, tools: [weather] });
    const [choice] = first.choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const [call] = choice!.message.tool_calls!;
    expect(call).toMatchObject({
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Oslo"}' },
    });
    const second = await ask({
      messages: [...messages, choice!.message, { role: 'tool', tool_call_id: call!.id, content: 'rain' }],
      tools: [weather],
    });
    expect(second.choices[0]!.message.content).toContain('told rain');
  });

  test('streamed, and through the runner of the SDK', async () => {
    const asked: string[] = [];
    const runner = client.chat.completions.runTools({
      model: 'default',
      stream: true,
      messages: [{ role: 'user', content: 'call weather and call weather' }],
      tools: [
        {
          type: 'function',
          function: {
            ...weather.function,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => {
              asked.push(city);
              return 'sun';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain('told sun, sun');
    expect(asked).toEqual(['Oslo', 'Oslo']);
  });

  test("beside the gateway's own: those run here, and the client is asked on its own", async () => {
    const stop = gateway.tools.register({
      name: 'clock',
      description: 'The time',
      inputSchema: { type: 'object' },
      run: () => Promise.resolve('noon'),
    });
    const answer = await ask({
      messages: [{ role: 'user', content: 'call clock and call weather' }],
      tools: [weather],
    });
    stop();
    const told = model.requests.at(-1)!.messages.flatMap((one) => one.results.map(({ content }) => content));
    expect(told).toEqual(['noon', expect.stringContaining('Not made yet')]);
    expect(answer.choices[0]!.finish_reason).toBe('stop');
  });

  test('tool_choice names one that has to be called', async () => {
    await ask({ tools: [weather], tool_choice: { type: 'function', function: { name: 'weather' } } });
    expect(model.requests.at(-1)!.body['tool_choice']).toEqual({
      type: 'function',
      function: { name: 'weather' },
    });
  });
});

test('"response_format": the answer is JSON of the schema, as the SDK parses it', async () => {
  const completion = await client.chat.completions.parse({
    model: 'default',
    messages: [{ role: 'user', content: 'Where?' }],
    response_format: zodResponseFormat(z.object({ city: z.string() }), 'place'),
  });
  expect(completion.choices[0]!.message.parsed).toEqual({ city: 'Oslo' });
  const anything = await ask({ response_format: { type: 'json_object' } });
  expect(JSON.parse(anything.choices[0]!.message.content!)).toEqual({ city: 'Oslo' });
});

test('pictures and files reach the model', async () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await ask({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
          {
            type: 'file',
            file: { filename: 'note.txt', file_data: `data:text/plain;base64,${btoa('noon')}` },
          },
        ],
      },
    ],
  });
  const sent = model.requests.at(-1)!.messages.at(-1)!;
  expect(sent.media).toHaveLength(1);
  expect(sent.text).toContain('noon');
});

test('"`model` names an agent (or `agent:model` when the agent allows it)"', async () => {
  await ask({ model: 'support:m2' });
  expect(model.requests.at(-1)!.body['model']).toBe('m2');
  await ask({ model: 'default:any-model' });
  expect(model.requests.at(-1)!.body['model']).toBe('any-model');
});

describe('"with an Idempotency-Key also the answer, sealed, for 24 h"', () => {
  test.each([false, true])(
    'a request that is repeated gets the same answer, and no model is asked (stream: %s)',
    async (stream) => {
      const headers = {
        Authorization: `Bearer ${gateway.token}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': `key-${stream}`,
      };
      const body = JSON.stringify({
        model: 'default',
        messages: [{ role: 'user', content: 'sealed-word' }],
        stream,
      });
      const send = () =>
        fetch(`http://127.0.0.1:${gateway.started.ports.b}/v1/chat/completions`, {
          method: 'POST',
          headers,
          body,
        });
      const first = await send();
      const text = await first.text();
      expect(text).toContain('sealed-word');
      const asked = model.requests.length;
      let again = first;
      await eventually(async () => {
        again = await send();
        expect(again.status).toBe(200);
      });
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
      const repeated = await again.text();
      if (stream) expect(repeated).toMatch(/sealed-word[\s\S]*\[DONE\]\n\n$/);
      else expect(JSON.parse(repeated)).toEqual(JSON.parse(text));
      expect(model.requests).toHaveLength(asked);
      const [row] = await gateway.database.query<{ body: string }>(
        `SELECT body FROM idempotency_keys WHERE operation = 'POST /v1/chat/completions' ORDER BY created_at DESC LIMIT 1`,
      );
      expect(row!.body).toMatch(/^agw1:/);
      expect(row!.body).not.toContain('sealed-word');
    },
  );

  test('requests with one key at once ask the model once', async () => {
    const asked = model.requests.length;
    const send = () =>
      client.chat.completions
        .create(
          { model: 'default', messages: [{ role: 'user', content: 'at once' }] },
          { headers: { 'Idempotency-Key': 'at-once' } },
        )
        .then(
          () => 200,
          (error: unknown) => (error as { status: number }).status,
        );
    const statuses = await Promise.all([send(), send(), send()]);
    expect(statuses).toContain(200);
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
    expect(model.requests).toHaveLength(asked + 1);
  });
});

test('hints that change no answer are accepted; the description of the format, and one call at a time, are passed to the model', async () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false };
  const hints = { prompt_cache_key: 'ada-7', safety_identifier: 'hash', verbosity: 'medium' as const };
  await ask({
    ...{ ...hints, messages: [{ role: 'user', content: 'Where?' }], tools: [weather] },
    parallel_tool_calls: false,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'place', description: 'Where it is', schema },
    },
  });
  const { body } = model.requests.at(-1)!;
  expect(body).toMatchObject({
    parallel_tool_calls: false,
    response_format: { json_schema: { description: 'Where it is' } },
  });
  for (const name of Object.keys(hints)) expect(body).not.toHaveProperty(name);
});

describe('"What is not supported is 400 naming the parameter"', () => {
  test.each<[string, object]>([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['top_logprobs', { top_logprobs: 3 }],
    ['logit_bias', { logit_bias: { '1': 2 } }],
    ['seed', { seed: 7 }],
    ['store', { store: true }],
    ['verbosity', { verbosity: 'low' }],
    ['frequency_penalty', { frequency_penalty: 1 }],
    ['presence_penalty', { presence_penalty: -1 }],
    ['service_tier', { service_tier: 'flex' }],
    ['reasoning_effort', { reasoning_effort: 'low' }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['prediction', { prediction: { type: 'content', content: 'x' } }],
    ['functions', { functions: [] }],
    [
      'messages[0].content[0].tool_calls',
      {
        messages: [
          {
            role: 'assistant',
            content: [
              {
                ...{ type: 'text', text: 'x' },
                tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
              },
            ],
          },
          { role: 'user', content: 'x' },
        ],
      },
    ],
    ['prompt_cache_retention', { prompt_cache_retention: '24h' }],
    ['web_search_options', { web_search_options: {} }],
    ['metadata.ticket', { metadata: { ticket: '7' } }],
    ['tools[0].type', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
    ['max_tokens', { max_tokens: 500_000 }],
    ['messages[0].name', { messages: [{ role: 'user', content: 'x', name: 'ada' }] }],
    [
      'messages[0].content[0].image_url.detail',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,', detail: 'high' } }] },
        ],
      },
    ],
    [
      'messages[0].content[0].file.file_id',
      {
        messages: [
          { role: 'user', content: [{ type: 'file', file: { file_data: 'eA==', file_id: 'file-1' } }] },
        ],
      },
    ],
    ['temperature', { temperature: 3 }],
    ['messages', { messages: [] }],
    ['messages', { messages: [{ role: 'assistant', content: 'x' }] }],
    ['messages', { messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'x' }] }],
    ['messages[0].role', { messages: [{ role: 'robot', content: 'x' }] }],
  ])('%s', async (param, more) => {
    const refusal = await refusalOf(ask(more));
    expect([refusal.status, refusal.param]).toEqual([400, param]);
  });
});

describe('errors have the shape of OpenAI', () => {
  test.each(['nobody', 'private', 'support:other-model', 'nobody:m', 'constructor', 'default:nowhere/m'])(
    'the model %s is 404',
    async (name) => {
      expect(await refusalOf(ask({ model: name }))).toEqual({
        status: 404,
        param: 'model',
        code: 'model_not_found',
      });
    },
  );

  test('an agent that the token may not use is 403, be it there or not', async () => {
    const narrow = openAiClient(gateway, await gateway.mint({ agents: ['support'] }));
    const { chat, models } = narrow;
    const messages = [{ role: 'user' as const, content: 'x' }];
    for (const model of ['default', 'default:a-model', 'nobody'])
      expect(await refusalOf(chat.completions.create({ model, messages }))).toMatchObject({ status: 403 });
    expect(await refusalOf(models.retrieve('default'))).toMatchObject({ status: 403 });
  });

  test.each([
    ['sessions:read', 200, 403],
    ['sessions:write', 403, 200],
    ['status:read', 403, 403],
  ] as const)(
    'with the scope %s alone: GET /models %d, POST /chat/completions %d',
    async (scope, reading, writing) => {
      const narrow = openAiClient(gateway, await gateway.mint({ scopes: [scope] }));
      const statusOf = (call: Promise<unknown>) =>
        call.then(
          () => 200,
          (error: unknown) => (error as { status: number }).status,
        );
      expect(await statusOf(narrow.models.list() as Promise<unknown>)).toBe(reading);
      const asked = narrow.chat.completions.create({
        model: 'default',
        messages: [{ role: 'user', content: 'x' }],
      });
      expect(await statusOf(asked)).toBe(writing);
    },
  );

  test('no token, a wrong one, an unknown path, a wrong method, another media type', async () => {
    expect(await refusalOf(openAiClient(gateway, 'sk-wrong').models.list() as Promise<unknown>)).toEqual({
      status: 401,
      param: null,
      code: 'invalid_api_key',
    });
    const at = (path: string, init: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${gateway.started.ports.a}/v1${path}`, {
        ...init,
        headers: { Authorization: `Bearer ${gateway.token}`, ...init.headers },
      });
    for (const [status, response] of [
      [404, await at('/embeddings', { method: 'POST' })],
      [405, await at('/models', { method: 'POST' })],
      [
        415,
        await at('/chat/completions', {
          method: 'POST',
          body: 'x',
          headers: { 'Content-Type': 'text/plain' },
        }),
      ],
      [
        400,
        await at('/chat/completions', {
          method: 'POST',
          body: '{',
          headers: { 'Content-Type': 'application/json' },
        }),
      ],
    ] as const) {
      expect(response.status).toBe(status);
      const { error } = (await response.json()) as { error: Record<string, unknown> };
      expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
    }
  });

  test('a bound caller speaks for their own user only', async () => {
    const bound = openAiClient(gateway, await gateway.mint({ user: 'ada' }));
    const messages = [{ role: 'user' as const, content: 'x' }];
    await bound.chat.completions.create({ model: 'default', messages, ...as('ada') });
    expect(
      await refusalOf(bound.chat.completions.create({ model: 'default', messages, ...as('bob') })),
    ).toMatchObject({ status: 403 });
  });
});

test('a caller who leaves ends the turn', async () => {
  const abort = new AbortController();
  let isOver = false;
  const stop = gateway.tools.register({
    name: 'slow',
    description: 'Takes its time',
    inputSchema: { type: 'object' },
    run: (_args, _context, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          isOver = true;
          resolve('stopped');
        });
        abort.abort();
      }),
  });
  const body = { model: 'default', messages: [{ role: 'user' as const, content: 'call slow' }] };
  await expect(client.chat.completions.create(body, { signal: abort.signal })).rejects.toThrow();
  await eventually(() => expect(isOver).toBe(true));
  stop();
});

test('limits of the token hold: its tokens of the day', async () => {
  const limited = await startTestGateway({
    env: { ...model.env, GATEWAY__LIMITS__DAILY_TOKENS_PER_API_TOKEN: '10' },
  });
  try {
    const { chat } = openAiClient(limited);
    const messages = [{ role: 'user' as const, content: 'x' }];
    await chat.completions.create({ model: 'default', messages });
    expect(await refusalOf(chat.completions.create({ model: 'default', messages }))).toMatchObject({
      status: 429,
      code: 'api_token_budget',
    });
  } finally {
    await limited.stop();
  }
});

test('"Each can be switched off": without openai in gateway.faces its paths are 404', async () => {
  const bare = await startTestGateway({ env: { GATEWAY__GATEWAY__FACES: '["admin"]' } });
  try {
    expect(await refusalOf(openAiClient(bare).models.list() as Promise<unknown>)).toMatchObject({
      status: 404,
    });
  } finally {
    await bare.stop();
  }
});
