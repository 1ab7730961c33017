import { BadRequest, Conflict } from '../../common/errors/gateway-error.js';
import { isId } from '../../common/ids/typeid.js';
import type { TurnPosition } from '../turns/turns.api.js';

/** The last event that a viewer has seen. */
export interface SeenEvent extends TurnPosition {
  readonly turnId: string;
}

/** The same on every replica: it counts characters and steps, however the text was cut into events. */
export function eventId(turnId: string, { chars, steps }: TurnPosition): string {
  return `${turnId}.${chars}.${steps}`;
}

/** Undefined for text that is not the id of an event. */
export function parseEventId(text: string): SeenEvent | undefined {
  const [, turnId = '', chars, steps] = /^(turn_\w+)\.(\d{1,9})\.(\d{1,6})$/.exec(text) ?? [];
  return isId('turn', turnId) ? { turnId, chars: Number(chars), steps: Number(steps) } : undefined;
}

/** `Last-Event-ID` does not hold the id of an event. */
export class BadLastEventId extends BadRequest {
  constructor() {
    const message =
      'is no id of an event; send the id of the last event as it came, or leave the header out to send a new message';
    super(`Last-Event-ID: ${message}`, { details: { fields: [{ path: 'Last-Event-ID', message }] } });
  }
}

/** The event in `Last-Event-ID` belongs to no turn of this session. */
export class UnknownEvent extends Conflict {
  constructor() {
    super(
      'Last-Event-ID is of no turn of this session, and nothing was done. Leave the header out to send a new message.',
      { details: { reason: 'unknown_last_event_id' } },
    );
  }
}

/** The event in `Last-Event-ID` belongs to the turn of another message than the one sent with it. */
export class EventOfOtherMessage extends Conflict {
  constructor() {
    super(
      'Last-Event-ID is of the turn of another message, and nothing was done. Send that message again to go on with ' +
        'its turn, or leave the header out to send this one as a new message.',
      { details: { reason: 'last_event_id_of_other_message' } },
    );
  }
}
