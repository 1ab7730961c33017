import { newId } from '../../../common/ids/typeid.js';
import type { ModelMessage, ModelToolCall } from '../../models/models.api.js';
import type { ModelRound } from './model-calls.js';

/** Ids and names that every wire accepts. */
const TAKEN = /^[a-zA-Z0-9_-]{1,64}$/;
const LONGEST = 64;

/**
 * Some providers number the calls of each answer from the beginning; within a conversation every call needs its own id.
 * Models also name tools that do not exist: a name that wires refuse in a history would end the conversation with the
 * first such call.
 */
export class CallIds {
  private known: Set<string> | undefined;

  /** @param before what was said before the first round; read only when a model calls something */
  constructor(private readonly before: () => readonly ModelMessage[]) {}

  /** What the provider wants echoed contains the calls' old ids and names, so it is dropped when they change. */
  unique(round: ModelRound): ModelRound {
    if (round.calls.length === 0) return round;
    const calls = round.calls.map((call) => this.named(call));
    if (calls.every((call, index) => call === round.calls[index])) return round;
    const { providerState: _of, ...rest } = round;
    return { ...rest, calls };
  }

  private named(call: ModelToolCall): ModelToolCall {
    this.known ??= idsIn(this.before());
    const isFresh = TAKEN.test(call.id) && !this.known.has(call.id);
    const id = isFresh ? call.id : newId('call');
    this.known.add(id);
    const name = TAKEN.test(call.name) ? call.name : mended(call.name);
    return isFresh && name === call.name ? call : { ...call, id, name };
  }
}

function idsIn(messages: readonly ModelMessage[]): Set<string> {
  return new Set(
    messages.flatMap((message) =>
      message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [],
    ),
  );
}

function mended(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, LONGEST) || 'unnamed';
}
