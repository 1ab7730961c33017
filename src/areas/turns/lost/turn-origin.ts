import type { Caller } from '../../../platform/tokens/caller.js';
import type { NewUserMessage } from '../message.js';
import type { MessageOptions } from '../message-options.js';

/**
 * How a turn began, apart from its message. Stored with the turn, so that another replica continues under the same
 * rules. Plain data.
 */
export interface TurnOrigin {
  readonly caller: Caller;
  readonly options?: MessageOptions;
  readonly systemNote?: string;
}

export function originOf({ options, systemNote }: NewUserMessage, caller: Caller): TurnOrigin {
  return {
    caller,
    ...(options !== undefined && { options }),
    ...(systemNote !== undefined && { systemNote }),
  };
}
