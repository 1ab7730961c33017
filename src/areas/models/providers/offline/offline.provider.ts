import {
  type ModelCallOptions,
  type ModelEvent,
  type ModelMessage,
  ModelProvider,
  type ModelRequest,
} from '../../model-provider.port.js';
import { DEFAULT_MODELS } from '../default-models.js';
import { offlineAnswer } from './offline-answer.js';

/** No model reads this: its tokens are what it counts as one, every four characters begun. */
const CHARS_PER_TOKEN = 4;

/** Stands in while no model is configured: deterministic, says so plainly, and runs tools on request. */
export class OfflineProvider extends ModelProvider {
  readonly name = 'offline';
  readonly defaultModel = DEFAULT_MODELS.offline;

  override async *stream(
    request: ModelRequest,
    options: ModelCallOptions,
  ): AsyncGenerator<ModelEvent, undefined> {
    options.signal.throwIfAborted();
    const { text, calls } = offlineAnswer(request);
    const kept = text.slice(0, request.maxOutputTokens * CHARS_PER_TOKEN);
    for (const [word] of kept.matchAll(/\s*\S+|\s+$/g)) {
      yield { type: 'token', text: word };
      options.signal.throwIfAborted();
    }
    for (const call of calls) yield { type: 'tool_call', call };
    const cut = kept.length < text.length;
    const finishReason = calls.length > 0 ? 'tool_calls' : cut ? 'length' : 'stop';
    const usage = {
      input: tokens(inputChars(request)),
      output: tokens(kept.length + JSON.stringify(calls).length - 2),
    };
    yield { type: 'end', finishReason, usage, model: DEFAULT_MODELS.offline };
  }
}

const tokens = (chars: number) => Math.ceil(chars / CHARS_PER_TOKEN);

function inputChars(request: ModelRequest): number {
  return request.messages.reduce((sum, message) => sum + messageChars(message), request.system.length);
}

function messageChars(message: ModelMessage): number {
  if (message.role === 'assistant') return message.text.length;
  if (message.role === 'tool') return message.results.reduce((sum, result) => sum + result.content.length, 0);
  return message.parts.reduce(
    (sum, part) => sum + (part.type === 'text' ? part.text.length : part.data.length),
    0,
  );
}
