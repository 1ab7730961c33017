import { newId } from '../../common/ids/typeid.js';
import type { ModelMessage, ModelToolCall } from '../models/models.api.js';
import type { ModelRound } from './model-calls.js';

/** As every wire takes them. */
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** Some providers number the calls of each answer from the beginning; in one conversation every call has an id of its own. */
export class CallIds {
  private readonly known: Set<string>;

  constructor(messages: readonly ModelMessage[]) {
    this.known = new Set(
      messages.flatMap((message) =>
        message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [],
      ),
    );
  }

  /** What the provider wants echoed knows the calls by their old ids, so it goes with them. */
  unique(round: ModelRound): ModelRound {
    const calls = round.calls.map((call) => this.named(call));
    if (calls.every((call, index) => call === round.calls[index])) return round;
    const { providerState: _of, ...rest } = round;
    return { ...rest, calls };
  }

  private named(call: ModelToolCall): ModelToolCall {
    const isGood = CALL_ID.test(call.id) && !this.known.has(call.id);
    const id = isGood ? call.id : newId('call');
    this.known.add(id);
    return isGood ? call : { ...call, id };
  }
}
