import { isId } from '../../common/ids/typeid.js';
import type { TurnPosition } from '../turns/turns.api.js';

/** The last event that a viewer has seen. */
export interface SeenEvent extends TurnPosition {
  readonly turnId: string;
}

/** The same on every replica: it counts what the turn has said, not how that was cut into events. */
export function eventId(turnId: string, { chars, steps }: TurnPosition): string {
  return `${turnId}.${chars}.${steps}`;
}

/** Undefined for text that is no id of an event. */
export function parseEventId(text: string): SeenEvent | undefined {
  const [, turnId = '', chars, steps] = /^(turn_\w+)\.(\d{1,9})\.(\d{1,6})$/.exec(text) ?? [];
  return isId('turn', turnId) ? { turnId, chars: Number(chars), steps: Number(steps) } : undefined;
}
