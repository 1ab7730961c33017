import { isRecord } from './tool-arguments.js';

/** Who made a state: it is sent back only to the same maker, because nobody else can read it. */
export interface StateMaker {
  readonly kind: 'anthropic' | 'openai';
  readonly wire: 'messages' | 'chat' | 'responses';
  readonly model: string;
}

/**
 * What a provider wants sent back with an assistant message of the same turn, as plain JSON: `items` are its own blocks
 * or items, as they came.
 */
export interface ProviderState<Item> extends StateMaker {
  readonly items: readonly Item[];
}

/** The items of a state that this maker made; undefined for anything else. */
export function itemsOfState<Item>(state: unknown, maker: StateMaker): readonly Item[] | undefined {
  if (!isRecord(state) || !Array.isArray(state['items'])) return undefined;
  const { kind, wire, model } = maker;
  const isOwn = state['kind'] === kind && state['wire'] === wire && state['model'] === model;
  return isOwn ? (state['items'] as Item[]) : undefined;
}
