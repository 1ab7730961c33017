import type { ServerResponse } from 'node:http';
import type { ModelProvider } from '../../src/areas/models/model-provider.port.js';
import { createProvider } from '../../src/areas/models/providers/create-provider.js';
import type { RetryPolicy } from '../../src/areas/models/providers/protocol/stream-with-retries.js';
import { beginStream } from './scripted-provider.js';

/** How a wire writes the parts of an answer. */
export interface WireFrames {
  readonly kind: 'openai' | 'anthropic';
  /** The events before any text. */
  readonly opening: readonly object[];
  text(text: string): object;
  /** A piece of a tool call's arguments; the first piece begins the call. */
  argument(piece: string, isFirst: boolean): object;
  readonly closing: readonly (object | string)[];
  /** An error in a stream that is worth another attempt. */
  readonly overloaded: object;
}

export const openAiWire: WireFrames = {
  kind: 'openai',
  opening: [
    { model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
  ],
  text: (text) => ({ model: 'm', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }),
  argument: (piece, isFirst) => ({
    choices: [
      {
        index: 0,
        delta: {
          tool_calls: [
            { index: 0, ...(isFirst && { id: 'c1' }), function: { name: 'weather', arguments: piece } },
          ],
        },
      },
    ],
  }),
  closing: [
    { model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { model: 'm', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
    'data: [DONE]\n\n',
  ],
  overloaded: { error: { message: 'Overloaded.', type: 'server_error', code: null } },
};

export const anthropicWire: WireFrames = {
  kind: 'anthropic',
  opening: [
    { type: 'message_start', message: { model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ],
  text: (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  argument: (piece, isFirst) =>
    isFirst
      ? {
          type: 'content_block_start',
          index: 1,
          content_block: { type: 'tool_use', id: 'c1', name: 'weather', input: {} },
        }
      : { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: piece } },
  closing: [
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ],
  overloaded: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded.' } },
};

export const wires: readonly WireFrames[] = [openAiWire, anthropicWire];

/** A complete answer, after which the connection closes. */
export function answerWith(wire: WireFrames, text: string): (response: ServerResponse) => void {
  return (response) => {
    beginStream(response, ...wire.opening, wire.text(text), ...wire.closing);
    response.end();
  };
}

export function connect(
  wire: WireFrames,
  url: string,
  retries: Partial<RetryPolicy> = {},
  apiKey = 'secret-key-4711',
): Promise<ModelProvider> {
  const baseUrl = wire.kind === 'openai' ? `${url}/v1` : url;
  const choice = { kind: wire.kind, apiKey, baseUrl, model: 'm', why: 'test' };
  return createProvider(choice, { baseDelayMs: 1, ...retries });
}
