import type { ServerResponse } from 'node:http';
import { beginStream, type ScriptedProvider, startScriptedProvider } from './scripted-provider.js';

type Wire = 'openai' | 'anthropic';
type Json = Readonly<Record<string, unknown>>;

/** A message that a model is sent, the same for both wires. */
export interface SentMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: Json }[];
  readonly results: readonly { readonly callId: string; readonly content: string }[];
  /** Types of pictures and files. */
  readonly media: readonly string[];
}

export interface SentRequest {
  readonly system: string;
  readonly tools: readonly string[];
  readonly messages: readonly SentMessage[];
  readonly body: Json;
}

export interface Judgement {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: Json }[];
  /** In the wire's own words; by default `stop` and `end_turn`. */
  readonly status?: number;
}

export interface JudgingModel {
  /** The environment of a gateway that uses it. */
  readonly env: Readonly<Record<string, string>>;
  readonly requests: SentRequest[];
  readonly provider: ScriptedProvider;
}

/** A model on loopback whose answers depend only on what it is sent. */
export async function startJudgingModel(
  wire: Wire,
  judge: (request: SentRequest) => Judgement,
): Promise<JudgingModel> {
  const provider = await startScriptedProvider();
  const requests: SentRequest[] = [];
  provider.script((response, { body }) => {
    const request = wire === 'openai' ? openAiRequest(body) : anthropicRequest(body);
    requests.push(request);
    const judgement = judge(request);
    if (judgement.status !== undefined) {
      response.writeHead(judgement.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { type: 'invalid_request_error', message: 'No.' } }));
      return;
    }
    const input = Math.ceil(JSON.stringify(body).length / 4);
    if (wire === 'openai') answerOpenAi(response, judgement, input);
    else answerAnthropic(response, judgement, input);
    response.end();
  });
  return {
    provider,
    requests,
    env: {
      GATEWAY__PROVIDER__KIND: wire,
      GATEWAY__PROVIDER__API_KEY: 'key-4711',
      GATEWAY__PROVIDER__BASE_URL: wire === 'openai' ? `${provider.url}/v1` : provider.url,
      GATEWAY__PROVIDER__MODEL: 'm',
    },
  };
}

function openAiRequest(body: Json): SentRequest {
  const all = body['messages'] as Json[];
  const systemText = all.filter(({ role }) => role === 'system').map((one) => textOf(one['content']));
  const messages = all.filter(({ role }) => role !== 'system');
  return {
    body,
    system: systemText.join('\n\n'),
    tools: ((body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name),
    messages: messages.map((one) => {
      const calls = (one['tool_calls'] ?? []) as WireCall[];
      return {
        role: one['role'] === 'assistant' ? 'assistant' : 'user',
        text: one['role'] === 'tool' ? '' : textOf(one['content']),
        calls: calls.map(({ id, function: { name, arguments: args } }) => ({
          ...{ id, name },
          arguments: parsed(args),
        })),
        results:
          one['role'] === 'tool'
            ? [{ callId: String(one['tool_call_id']), content: textOf(one['content']) }]
            : [],
        media: mediaOf(one['content']),
      };
    }),
  };
}

function anthropicRequest(body: Json): SentRequest {
  return {
    body,
    system: textOf(body['system']),
    tools: ((body['tools'] ?? []) as { name: string }[]).map(({ name }) => name),
    messages: (body['messages'] as { role: 'user' | 'assistant'; content: string | Json[] }[]).map((one) => {
      const blocks = typeof one.content === 'string' ? [{ type: 'text', text: one.content }] : one.content;
      const of = (type: string): Json[] => blocks.filter((block: Json) => block['type'] === type);
      return {
        role: one.role,
        text: textOf(of('text')),
        calls: of('tool_use').map((block) => ({
          id: String(block['id']),
          name: String(block['name']),
          arguments: block['input'] as Json,
        })),
        results: of('tool_result').map((block) => ({
          callId: String(block['tool_use_id']),
          content: textOf(block['content']),
        })),
        media: [...mediaOf(blocks), ...of('tool_result').flatMap((block) => mediaOf(block['content']))],
      };
    }),
  };
}

interface WireCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

function parsed(text: string): Json {
  return JSON.parse(text) as Json;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as { text?: string }[])
    .flatMap(({ text }) => (text === undefined ? [] : [text]))
    .join('\n\n');
}

function mediaOf(content: unknown): string[] {
  if (!Array.isArray(content)) return [];
  return (content as { type: string }[])
    .map(({ type }) => type)
    .filter((type) => !['text', 'tool_use', 'tool_result'].includes(type));
}

function answerOpenAi(response: ServerResponse, { text, calls = [] }: Judgement, input: number): void {
  const delta = (part: Json, reason: string | null = null) => ({
    model: 'm',
    choices: [{ index: 0, delta: part, finish_reason: reason }],
  });
  beginStream(
    response,
    delta({ role: 'assistant', content: text ?? '' }),
    ...calls.map(({ id, name, arguments: args }, index) =>
      delta({ tool_calls: [{ index, id, function: { name, arguments: JSON.stringify(args) } }] }),
    ),
    delta({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    { model: 'm', choices: [], usage: { prompt_tokens: input, completion_tokens: 2 } },
    'data: [DONE]\n\n',
  );
}

function answerAnthropic(response: ServerResponse, { text, calls = [] }: Judgement, input: number): void {
  const blocks: [block: object, delta: object][] = calls.map(({ id, name, arguments: args }) => [
    { type: 'tool_use', id, name, input: {} },
    { type: 'input_json_delta', partial_json: JSON.stringify(args) },
  ]);
  if (text !== undefined)
    blocks.unshift([
      { type: 'text', text: '' },
      { type: 'text_delta', text },
    ]);
  beginStream(
    response,
    { type: 'message_start', message: { model: 'm', usage: { input_tokens: input, output_tokens: 1 } } },
    ...blocks.flatMap(([block, delta], index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' },
      usage: { output_tokens: 2 },
    },
    { type: 'message_stop' },
  );
}
