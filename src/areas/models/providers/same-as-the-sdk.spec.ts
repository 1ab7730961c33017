import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import {
  callOptions,
  callsOf,
  collect,
  endOf,
  modelRequest,
  textOf,
  userMessage,
} from '../../../../test/harness/model-call.js';
import {
  beginStream,
  type ScriptedProvider,
  startScriptedProvider,
} from '../../../../test/harness/scripted-provider.js';
import type { AnthropicParams } from './anthropic/anthropic-request.js';
import { createProvider } from './create-provider.js';
import type { ChatParams } from './openai/chat-request.js';
import type { ResponsesParams } from './openai/responses-request.js';

/** What an SDK says of itself and its machine. */
const OF_THE_SDK = /^(x-stainless-.*|connection|accept-encoding|accept-language|sec-fetch-mode)$/;

let server: ScriptedProvider;
beforeAll(async () => {
  server = await startScriptedProvider();
});
afterAll(() => server.stop());

const openAi = (baseURL: string) => new OpenAI({ baseURL, apiKey: 'key-1', maxRetries: 0 });
const anthropic = (baseURL: string) =>
  new Anthropic({ baseURL, apiKey: 'key-1', defaultHeaders: { 'x-api-key': 'key-1' }, maxRetries: 0 });

/** An answer as each SDK reads it, in the neutral words. */
interface Read {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  readonly input: number;
  readonly output: number;
  /** What goes back within the turn. */
  readonly items: readonly unknown[];
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason, logprobs: null }],
});
const callDelta = (fields: object) => chunk({ tool_calls: [{ index: 0, type: 'function', ...fields }] });

const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];

const reasoningItem = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'opaque' };
const messageItem = {
  type: 'message',
  id: 'msg',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Grüezi.', annotations: [] }],
};
const callItem = {
  type: 'function_call',
  id: 'fc',
  call_id: 'a',
  name: 'weather',
  arguments: '{"city":"Bern"}',
  status: 'completed',
};
const response = (more: object) => ({ id: 'r', object: 'response', model: 'm', output: [], ...more });
const part = { output_index: 1, content_index: 0, item_id: 'msg' };

const wires = [
  {
    name: 'Chat Completions',
    choice: { kind: 'openai', wire: 'chat' },
    suffix: '/v1',
    callTheSdk: (baseURL: string, params: unknown) =>
      openAi(baseURL).chat.completions.create(params as ChatParams),
    stream: [
      chunk({ role: 'assistant', content: 'Grü' }),
      chunk({ content: 'ezi.' }),
      callDelta({ id: 'a', function: { name: 'weather', arguments: '{"city"' } }),
      callDelta({ function: { arguments: ':"Bern"}' } }),
      chunk({}, 'tool_calls'),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } },
      'data: [DONE]\n\n',
    ],
    async readBySdk(baseURL: string, params: unknown): Promise<Read> {
      const answer = await openAi(baseURL)
        .chat.completions.stream(params as ChatParams)
        .finalChatCompletion();
      const message = answer.choices[0]?.message;
      return {
        text: message?.content ?? '',
        calls: (message?.tool_calls ?? []).map((call) => {
          return {
            id: call.id,
            name: call.function.name,
            arguments: JSON.parse(call.function.arguments) as unknown,
          };
        }),
        input: answer.usage?.prompt_tokens ?? 0,
        output: answer.usage?.completion_tokens ?? 0,
        items: [],
      };
    },
  },
  {
    name: 'Responses',
    choice: { kind: 'openai', wire: 'responses' },
    suffix: '/v1',
    callTheSdk: (baseURL: string, params: unknown) =>
      openAi(baseURL).responses.create(params as ResponsesParams),
    stream: [
      { type: 'response.created', response: response({ status: 'in_progress' }) },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...reasoningItem, encrypted_content: '' },
      },
      { type: 'response.output_item.done', output_index: 0, item: reasoningItem },
      { type: 'response.output_item.added', output_index: 1, item: { ...messageItem, content: [] } },
      {
        type: 'response.content_part.added',
        ...part,
        part: { type: 'output_text', text: '', annotations: [] },
      },
      { type: 'response.output_text.delta', ...part, delta: 'Grü' },
      { type: 'response.output_text.delta', ...part, delta: 'ezi.' },
      { type: 'response.output_item.done', output_index: 1, item: messageItem },
      { type: 'response.output_item.added', output_index: 2, item: { ...callItem, arguments: '' } },
      {
        type: 'response.function_call_arguments.delta',
        output_index: 2,
        item_id: 'fc',
        delta: '{"city":"Bern"}',
      },
      { type: 'response.output_item.done', output_index: 2, item: callItem },
      {
        type: 'response.completed',
        response: response({
          status: 'completed',
          output: [reasoningItem, messageItem, callItem],
          usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
        }),
      },
    ],
    async readBySdk(baseURL: string, params: unknown): Promise<Read> {
      const { output, usage } = await openAi(baseURL)
        .responses.stream(params as ResponsesParams)
        .finalResponse();
      const calls = output.filter((item) => item.type === 'function_call');
      const said = output.flatMap((item) => (item.type === 'message' ? item.content : []));
      return {
        text: said.map((one) => (one.type === 'output_text' ? one.text : '')).join(''),
        calls: calls.map((call) => ({
          id: call.call_id,
          name: call.name,
          arguments: JSON.parse(call.arguments) as unknown,
        })),
        input: usage?.input_tokens ?? 0,
        output: usage?.output_tokens ?? 0,
        items: [reasoningItem, messageItem, callItem],
      };
    },
  },
  {
    name: 'Messages',
    choice: { kind: 'anthropic' },
    suffix: '',
    callTheSdk: (baseURL: string, params: unknown) =>
      anthropic(baseURL).messages.create(params as AnthropicParams),
    stream: [
      {
        type: 'message_start',
        message: {
          ...{ id: 'msg', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null },
          usage: { input_tokens: 9, output_tokens: 1 },
        },
      },
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'Let me see.' },
        { type: 'signature_delta', signature: 'sig' },
      ),
      ...block(1, { type: 'redacted_thinking', data: 'opaque' }),
      ...block(
        2,
        { type: 'text', text: '' },
        { type: 'text_delta', text: 'Grü' },
        { type: 'text_delta', text: 'ezi.' },
      ),
      ...block(
        3,
        { type: 'tool_use', id: 'a', name: 'weather', input: {} },
        { type: 'input_json_delta', partial_json: '{"city":' },
        { type: 'input_json_delta', partial_json: '"Bern"}' },
      ),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ],
    async readBySdk(baseURL: string, params: unknown): Promise<Read> {
      const { stream: _, ...rest } = params as AnthropicParams;
      const { content, usage } = await anthropic(baseURL).messages.stream(rest).finalMessage();
      const calls = content.filter((one) => one.type === 'tool_use');
      return {
        text: content.map((one) => (one.type === 'text' ? one.text : '')).join(''),
        calls: calls.map(({ id, name, input }) => ({ id, name, arguments: input })),
        input: usage.input_tokens,
        output: usage.output_tokens,
        items: content,
      };
    },
  },
] as const;

describe.each(wires)('$name', ({ choice, suffix, callTheSdk, stream, readBySdk }) => {
  const tools = [{ name: 'weather', description: 'Tells it.', inputSchema: { type: 'object' } }];
  const baseUrl = () => `${server.url}${suffix}`;
  const ask = async () => {
    const provider = await createProvider({
      ...choice,
      apiKey: 'key-1',
      baseUrl: baseUrl(),
      model: 'm',
      why: 'test',
    });
    const request = modelRequest([userMessage('Grüezi')], {
      tools,
      trailing: 'It is noon.',
      reasoning: 'low',
    });
    return collect(provider.stream(request, callOptions()));
  };

  it('a call is the one that the SDK makes, byte for byte', async () => {
    server.script((answer) => void answer.writeHead(400, { 'content-type': 'application/json' }).end('{}'));
    await ask().catch(() => undefined);
    const ours = server.requests.at(-1);
    await Promise.resolve(callTheSdk(baseUrl(), ours?.body)).catch(() => undefined);
    const theirs = server.requests.at(-1);
    expect(server.requests).toHaveLength(2);
    expect(ours?.body).toMatchObject({ stream: true });
    expect({ ...ours, headers: told(ours?.headers) }).toEqual({ ...theirs, headers: told(theirs?.headers) });
  });

  it('an answer is read as the SDK reads it', async () => {
    server.script((answer) => {
      beginStream(answer, ...stream);
      answer.end();
    });
    const events = await ask();
    const { usage, providerState } = endOf(events);
    const { items = [] } = (providerState ?? {}) as { items?: readonly unknown[] };
    const read = {
      text: textOf(events),
      calls: callsOf(events),
      input: usage.input,
      output: usage.output,
      items,
    };
    expect(JSON.parse(JSON.stringify(read))).toMatchObject(
      await readBySdk(baseUrl(), server.requests[0]?.body),
    );
    expect(read.calls).toEqual([{ id: 'a', name: 'weather', arguments: { city: 'Bern' } }]);
  });
});

function told(headers: object = {}): object {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_SDK.test(name)));
}
