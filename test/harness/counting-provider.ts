import type { ServerResponse } from 'node:http';
import { beginStream, type ScriptedProvider, startScriptedProvider } from './scripted-provider.js';

/**
 * Tokens of a call, as Anthropic counts them: `plain` is input that was neither read from the cache nor written to
 * it.
 */
export interface CountedCall {
  readonly plain: number;
  readonly read?: number;
  readonly written?: number;
  readonly output: number;
}

export interface CountedAnswer extends CountedCall {
  readonly model?: string;
  /** The text of the answer; by default the number of the call. */
  readonly text?: string;
  /** Fails with this status instead, and counts nothing. */
  readonly status?: number;
  /** Calls this tool instead of answering. */
  readonly tool?: string;
  /** Holds back the answer, and everything it would count, until this resolves. */
  readonly when?: Promise<void>;
  /** Reports the input tokens and a first word, then nothing: the caller has to break off the call. */
  readonly stalls?: true;
}

/** Every call that was answered completely, in order. */
export interface CountingProvider extends ScriptedProvider {
  readonly counted: readonly Required<CountedCall>[];
}

/** A provider with its own books: what it counted for each call that it answered completely. */
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

/** The environment of a gateway that uses it. */
export function anthropicEnv(provider: ScriptedProvider, model = 'm'): Record<string, string> {
  return {
    GATEWAY__PROVIDER__KIND: 'anthropic',
    GATEWAY__PROVIDER__API_KEY: 'key-4711',
    GATEWAY__PROVIDER__BASE_URL: provider.url,
    GATEWAY__PROVIDER__MODEL: model,
  };
}
