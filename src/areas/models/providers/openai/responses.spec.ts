import {
  callOptions,
  callsOf,
  collect,
  endOf,
  modelRequest,
  rejection,
  textOf,
  userMessage,
} from '../../../../../test/harness/model-call.js';
import {
  beginStream,
  type ScriptedProvider,
  startScriptedProvider,
} from '../../../../../test/harness/scripted-provider.js';
import type { ProviderFailed } from '../../../../common/errors/gateway-error.js';
import type { ModelEvent, ModelMessage, ModelProvider, ModelRequest } from '../../model-provider.port.js';
import { createProvider } from '../create-provider.js';
import { chosenWire } from './openai-models.js';

let server: ScriptedProvider;
let provider: ModelProvider;

beforeAll(async () => {
  server = await startScriptedProvider();
  const baseUrl = `${server.url}/v1`;
  provider = await createProvider(
    { kind: 'openai', wire: 'responses', apiKey: 'key-4711', baseUrl, model: 'fallback', why: 'test' },
    { maxRetries: 1, baseDelayMs: 1 },
  );
});
afterAll(() => server.stop());

const tools = [{ name: 'f', description: 'Does f.', inputSchema: { type: 'object' } }];
const text = (delta: string) => ({ type: 'response.output_text.delta', output_index: 0, delta });
const done = (output_index: number, item: object) => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const completed = (response: object = {}) => ({
  type: 'response.completed',
  response: { model: 'm-1', status: 'completed', ...response },
});
const incomplete = (reason: string) => ({
  type: 'response.incomplete',
  response: { status: 'incomplete', incomplete_details: { reason } },
});
const reasoning = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Let me see.' }],
  encrypted_content: 'opaque',
};
const functionCall = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'a',
  name: 'f',
  arguments: '{"m":1}',
  status: 'completed',
};

function answer(...events: object[]): void {
  server.script((response) => {
    beginStream(response, ...events);
    response.end();
  });
}

function ask(more: Partial<ModelRequest> = {}, messages = [userMessage('hello')]): Promise<ModelEvent[]> {
  return collect(provider.stream(modelRequest(messages, more), callOptions()));
}

describe('answers of the Responses API', () => {
  it('have text, model and tokens, with those that were cached and those that were thought', async () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 50,
      input_tokens_details: { cached_tokens: 80, cache_write_tokens: 20 },
      output_tokens_details: { reasoning_tokens: 40 },
    };
    answer({ type: 'response.created' }, text('Good '), text('morning.'), completed({ usage }));
    const events = await ask();
    expect(textOf(events)).toBe('Good morning.');
    expect(endOf(events)).toEqual({
      type: 'end',
      finishReason: 'stop',
      usage: { input: 100, output: 50, cachedInput: 80, cacheWrite: 20, reasoning: 40 },
      model: 'm-1',
    });
  });

  it("have summaries of the model's thoughts, with a line between them", async () => {
    const summary = (delta: string) => ({ type: 'response.reasoning_summary_text.delta', delta });
    const part = (summary_index: number) => ({
      type: 'response.reasoning_summary_part.added',
      summary_index,
    });
    answer(part(0), summary('One.'), part(1), summary('Two.'), text('Done.'), completed());
    const events = await ask();
    expect(events.slice(0, -1)).toEqual([
      { type: 'reasoning', text: 'One.\n\nTwo.' },
      { type: 'token', text: 'Done.' },
    ]);
  });

  it('a message that arrived whole is given once, and one that arrived in pieces is not given again', async () => {
    const message = (words: string) => ({ type: 'message', content: [{ type: 'output_text', text: words }] });
    answer(text('One. '), done(0, message('One. ')), done(1, message('Two.')), completed());
    expect(textOf(await ask())).toBe('One. Two.');
  });

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['something_new', 'length'],
  ])('an answer that is incomplete for %s ends with %s', async (reason, word) => {
    answer(text('And then'), incomplete(reason));
    expect(endOf(await ask()).finishReason).toBe(word);
  });

  it('a refusal is passed on as text and marked as a refusal', async () => {
    answer({ type: 'response.refusal.delta', output_index: 0, delta: 'I will not.' }, completed());
    const events = await ask();
    expect(textOf(events)).toBe('I will not.');
    expect(endOf(events).finishReason).toBe('refusal');
  });

  const failed = (code: string) => ({
    type: 'response.failed',
    response: { status: 'failed', error: { code, message: 'It broke.' } },
  });
  const error = { code: 'server_error', message: 'It broke.' };

  it.each([
    ['a failed response', failed('server_error'), 'provider_error', 2],
    ['a rate that is passed meanwhile', failed('rate_limit_exceeded'), 'provider_rate_limited', 2],
    ['a request that is refused meanwhile', failed('invalid_prompt'), 'provider_rejected_request', 1],
    ['a policy', failed('bio_policy'), 'provider_filtered_content', 1],
    ['an error event', { type: 'error', ...error }, 'provider_error', 2],
    ['an error within an error event', { type: 'error', error }, 'provider_error', 2],
  ])(
    '%s before any text has its reason, and is repeated when that may help',
    async (_, event, reason, calls) => {
      answer({ type: 'response.created' }, event);
      const failure = (await rejection(ask())) as ProviderFailed;
      expect(failure.message).toBe('The model provider openai broke off its answer: It broke.');
      expect(failure.details).toMatchObject({ reason });
      expect(server.requests).toHaveLength(calls);
    },
  );

  it('a failure after text is not repeated, and neither is a broken connection', async () => {
    answer(text('And then'), failed('server_error'));
    expect(await rejection(ask())).toMatchObject({ details: { reason: 'provider_error' } });
    expect(server.requests).toHaveLength(1);
    answer(text('And then'));
    expect(await rejection(ask())).toMatchObject({ details: { reason: 'provider_stream_cut' } });
    expect(server.requests).toHaveLength(1);
  });

  it('arguments that are not a JSON object are a problem of the call, and too many of them end the answer', async () => {
    answer(done(0, { ...functionCall, arguments: '{"m":' }), completed());
    const [call] = callsOf(await ask());
    expect(call).toMatchObject({ id: 'a', problem: 'The arguments are not valid JSON.' });
    answer(
      { type: 'response.function_call_arguments.delta', delta: 'x'.repeat(2 * 1024 * 1024) },
      completed(),
    );
    expect(await rejection(ask())).toMatchObject({ details: { reason: 'provider_answer_too_large' } });
  });
});

describe('requests to the Responses API', () => {
  const sent = async (more: Partial<ModelRequest> = {}, messages = [userMessage('hello')]) => {
    answer(completed());
    await ask(more, messages);
    return server.requests[0]?.body ?? {};
  };

  it('store nothing at the provider, and ask for encrypted reasoning', async () => {
    expect(await sent({ tools, conversationId: 'sess_1' })).toEqual({
      model: 'test-model',
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 512,
      prompt_cache_key: 'sess_1',
      tools: [
        {
          type: 'function',
          name: 'f',
          description: 'Does f.',
          parameters: { type: 'object' },
          strict: false,
        },
      ],
      instructions: 'Be brief.',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'hello' }] }],
    });
    expect(server.requests[0]).toMatchObject({
      path: '/v1/responses',
      headers: { authorization: 'Bearer key-4711' },
    });
  });

  it('ask a model without reasoning for none', async () => {
    const body = await sent({ model: 'gpt-4.1', reasoning: 'none', showReasoning: true });
    expect(body).not.toHaveProperty('include');
    expect(body).not.toHaveProperty('reasoning');
  });

  it('have fields for effort, summaries, sampling, the choice of a tool and the format of the answer', async () => {
    const responseFormat = { name: 'x', schema: { type: 'object' }, strict: true };
    const choice = { toolChoice: { name: 'f' }, parallelToolCalls: false } as const;
    const sampling = { temperature: 0.5, topP: 0.9, ...choice };
    const more = { tools, sampling, responseFormat, reasoning: 'low', showReasoning: true } as const;
    expect(await sent(more)).toMatchObject({
      reasoning: { effort: 'low', summary: 'auto' },
      temperature: 0.5,
      top_p: 0.9,
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: false,
      text: { format: { type: 'json_schema', ...responseFormat } },
    });
  });

  it('within a turn every item is sent back unchanged, even after it was stored, to the same model only', async () => {
    answer(done(0, reasoning), done(1, functionCall), completed());
    const events = await ask({ tools });
    expect(callsOf(events)).toEqual([{ id: 'a', name: 'f', arguments: { m: 1 } }]);
    expect(endOf(events).finishReason).toBe('tool_calls');
    const { providerState } = JSON.parse(JSON.stringify(endOf(events))) as { providerState: unknown };
    const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const;
    const messages: ModelMessage[] = [
      userMessage('hello'),
      { role: 'assistant', text: '', toolCalls: callsOf(events), providerState },
      { role: 'tool', results: [{ callId: 'a', content: 'A', parts: [image], isError: false }] },
    ];
    const output = {
      type: 'function_call_output',
      call_id: 'a',
      output: [
        { type: 'input_text', text: 'A' },
        { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' },
      ],
    };
    const now = { role: 'developer', content: 'It is noon.' };
    const { input } = await sent({ tools, trailing: 'It is noon.' }, messages);
    expect((input as unknown[]).slice(1)).toEqual([reasoning, functionCall, output, now]);
    const other = await sent({ tools, model: 'other' }, messages);
    const { id: _id, status: _status, ...call } = functionCall;
    expect((other.input as unknown[]).slice(1)).toEqual([call, output]);
  });
});

it.each([
  ['auto', 'https://api.openai.com/v1', 'responses'],
  ['auto', 'https://mine.openai.azure.com/openai/v1', 'chat'],
  ['auto', 'http://127.0.0.1:11434/v1', 'chat'],
  ['responses', 'http://127.0.0.1:11434/v1', 'responses'],
  ['chat', 'https://api.openai.com/v1', 'chat'],
] as const)('provider.wire %s at %s is %s', (wire, baseUrl, chosen) => {
  expect(chosenWire(wire, baseUrl)).toBe(chosen);
});
