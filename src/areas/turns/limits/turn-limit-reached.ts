import { RateLimited } from '../../../common/errors/gateway-error.js';

/** What of `[limits]` a message has met. */
export type TurnLimit =
  | 'api_token_budget'
  | 'session_budget'
  | 'budget_reached'
  | 'api_token_turns'
  | 'api_token_waiting'
  | 'api_token_stored_bytes'
  | 'replica_turns';

/** A message that may not begin a turn now (429); nothing of it is stored. */
export class TurnLimitReached extends RateLimited {
  constructor(
    readonly limit: TurnLimit,
    sentence: string,
    retryAfterSecs: number,
  ) {
    super(sentence, { details: { reason: limit }, retryAfterSecs });
  }

  /** Whether the tokens or the money of a day or month are used up, so that waiting a moment does not help. */
  get isBudget(): boolean {
    return ['api_token_budget', 'session_budget', 'budget_reached'].includes(this.limit);
  }
}
