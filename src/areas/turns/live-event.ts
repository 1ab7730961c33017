import type { GatewayError } from '../../common/errors/gateway-error.js';
import type { Message } from './message.js';
import type { TurnEvent } from './turn.js';

/** What whoever follows a turn is shown; the last one is `done` or `error`. */
export type LiveEvent =
  | Exclude<TurnEvent, { type: 'usage' }>
  | { readonly type: 'done'; readonly message: Message }
  | { readonly type: 'error'; readonly error: GatewayError };

/** Where in a turn an event ends: characters of text, and events that are no text, from the turn's beginning. */
export interface TurnPosition {
  readonly chars: number;
  readonly steps: number;
}

/** The step of `done` and of `error`: whoever has seen it has seen the whole turn. */
export const LAST_STEP = 999_999;
export const TURN_START: TurnPosition = { chars: 0, steps: 0 };

export function isLast(event: LiveEvent): boolean {
  return event.type === 'done' || event.type === 'error';
}
