import { RateLimited } from '../../../common/errors/gateway-error.js';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';
import { type Budget, settingOf } from '../../usage/usage.api.js';

/** Which limit of `[limits]` a message has reached. */
export type TurnLimit =
  | 'api_token_budget'
  | 'session_budget'
  | 'budget_reached'
  | 'api_token_turns'
  | 'api_token_waiting'
  | 'api_token_stored_bytes'
  | 'replica_turns';

/** A message whose turn may not begin now (429); nothing of it is stored. */
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

const WHOSE = {
  all: 'this gateway',
  users: 'this user',
  api_tokens: 'this API token',
  agents: 'this agent',
} as const;

/** The text for a message whose budget is used up; it does not say how much other people spent. */
export function budgetRefusal(
  budget: Budget,
  limits: GatewaySettings['limits'],
  now = new Date(),
): TurnLimitReached {
  const { scope, period } = budget;
  const begins = period === 'day' ? 'at midnight UTC' : 'with the next month (UTC)';
  const sentence = `The budget of ${WHOSE[scope]} for this ${period} is used up (${settingOf(budget, limits)}). It begins anew ${begins}.`;
  return new TurnLimitReached('budget_reached', sentence, secsLeft(period, now));
}

/** Seconds until the day or the month ends, in UTC. */
function secsLeft(period: Budget['period'], now: Date): number {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const end = period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
  return Math.max(1, Math.ceil((end - now.getTime()) / 1000));
}
