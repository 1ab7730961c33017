import { storableJson, storableText } from '../database/storable-text.js';
import type { ModelEvent, ModelToolCall, ModelUsage } from './model-provider.port.js';
import type { TurnListener } from './turn.js';

/** What one call of the model came to. */
export interface ModelRound {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly usage: ModelUsage;
  readonly model: string;
  readonly providerState?: unknown;
}

/**
 * Follows one answer of the model to its end and passes on what it says. Its calls are such that the database can keep them.
 * @param afterText whether an earlier round of the turn said something: texts of two rounds stand apart
 */
export async function readRound(
  events: AsyncIterable<ModelEvent>,
  emit: TurnListener,
  afterText: boolean,
): Promise<ModelRound> {
  const pieces: string[] = [];
  const calls: ModelToolCall[] = [];
  for await (const event of events) {
    if (event.type === 'end') {
      const { usage, providerState } = event;
      const model = storableText(event.model);
      await emit({ type: 'usage', usage, model });
      return { text: pieces.join(''), calls, usage, model, providerState };
    }
    if (event.type === 'tool_call') {
      calls.push(storableJson(event.call));
      continue;
    }
    if (pieces.length === 0 && afterText) await emit({ type: 'token', text: '\n\n' });
    pieces.push(event.text);
    const heldBack = emit({ type: 'token', text: event.text });
    if (heldBack !== undefined) await heldBack;
  }
  throw new Error('The model provider ended a stream without saying so.');
}
