import type { ServerResponse } from 'node:http';
import { beginStream, type ScriptedProvider, startScriptedProvider } from './scripted-provider.js';

/** Tokens of one call, as Anthropic counts them: `plain` is input that no cache has to do with. */
export interface CountedCall {
  readonly plain: number;
  readonly read?: number;
  readonly written?: number;
  readonly output: number;
}

export interface CountedAnswer extends CountedCall {
  readonly model?: string;
  /** What it says; the number of the call unless given. */
  readonly text?: string;
  /** Fails with this instead, and counts nothing. */
  readonly status?: number;
  /** Asks for this tool instead of answering. */
  readonly tool?: string;
  /** Holds the answer back, before anything of it is counted. */
  readonly when?: Promise<void>;
  /** Says how much input it counted and a first word, and nothing more: the call is broken off by its caller. */
  readonly stalls?: true;
}

/** Every call that was answered to its end, in order. */
export interface CountingProvider extends ScriptedProvider {
  readonly counted: readonly Required<CountedCall>[];
}

/** A provider that keeps its own books: what it counted of each call that it answered to its end. */
export async function startCountingProvider(
  answerOf: (body: Record<string, unknown>, number: number) => CountedAnswer,
): Promise<CountingProvider> {
  const provider = await startScriptedProvider();
  const counted: Required<CountedCall>[] = [];
  let calls = 0;
  provider.script(async (response, { body }) => {
    calls += 1;
    const given = answerOf(body, calls);
    await given.when;
    if (response.destroyed) return;
    if (given.status !== undefined) {
      response.writeHead(given.status, { 'content-type': 'application/json' });
      response.end('{"type":"error","error":{"type":"invalid_request_error","message":"Not today."}}');
      return;
    }
    answer(response, given, calls);
    if (given.stalls === true) return;
    const { plain, read = 0, written = 0, output } = given;
    counted.push({ plain, read, written, output });
  });
  return { ...provider, counted };
}

function answer(response: ServerResponse, given: CountedAnswer, call: number): void {
  const { plain, read = 0, written = 0, output, model = 'm', tool, text = `Answer ${call}.`, stalls } = given;
  const usage = { input_tokens: plain, cache_read_input_tokens: read, cache_creation_input_tokens: written };
  const [block, delta] =
    tool === undefined
      ? [
          { type: 'text', text: '' },
          { type: 'text_delta', text },
        ]
      : [
          { type: 'tool_use', id: `toolu_${call}`, name: tool, input: {} },
          { type: 'input_json_delta', partial_json: '{}' },
        ];
  beginStream(
    response,
    { type: 'message_start', message: { model, usage: { ...usage, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
  );
  if (stalls === true) return;
  beginStream(
    response,
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: tool === undefined ? 'end_turn' : 'tool_use' },
      usage: { output_tokens: output },
    },
    { type: 'message_stop' },
  );
  response.end();
}

/** The environment of a gateway that asks it. */
export function askingAt(provider: ScriptedProvider, model = 'm'): Record<string, string> {
  return {
    GATEWAY__PROVIDER__KIND: 'anthropic',
    GATEWAY__PROVIDER__API_KEY: 'key-4711',
    GATEWAY__PROVIDER__BASE_URL: provider.url,
    GATEWAY__PROVIDER__MODEL: model,
  };
}
