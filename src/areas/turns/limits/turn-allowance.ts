import type { RowOf } from '../../../platform/database/sql-types.js';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';
import { type Caller, familyOf } from '../../../platform/tokens/caller.js';
import { isChannel, ownLimitsOf, shareOf } from '../../../platform/tokens/token-shares.js';
import type { Budget } from '../../usage/usage.api.js';
import type { USAGE_ROW } from './spending.sql.js';
import { budgetRefusal, TurnLimitReached } from './turn-limit-reached.js';

/** What a caller's turns may use at this moment; 0 is no limit. */
export interface TurnAllowance {
  readonly tokenId: string;
  readonly tokenDailyTokens: number;
  readonly tokenTurns: number;
  readonly sessionDailyTokens: number;
  /** The token and those that replaced it, whose attachments count together. */
  readonly family: string;
  readonly storedBytes: number;
  readonly waitingMessages: number;
  /** In US dollars. */
  readonly budgets: readonly Budget[];
}

/** What a session and an API token have used, according to the database. */
export type LimitUsage = RowOf<typeof USAGE_ROW>;

type Limits = GatewaySettings['limits'];

export function allowanceOf(limits: Limits, caller: Caller, budgets: readonly Budget[]): TurnAllowance {
  const own = ownLimitsOf(limits, caller);
  const forAll = (limit: number): number => (isChannel(caller) ? 0 : limit);
  return {
    tokenId: caller.tokenId,
    tokenDailyTokens: own?.daily_tokens ?? forAll(limits.daily_tokens_per_api_token),
    tokenTurns: own?.turns ?? forAll(limits.turns_per_api_token),
    sessionDailyTokens: limits.daily_tokens_per_session,
    family: familyOf(caller),
    storedBytes: shareOf(limits, caller, 'stored_bytes'),
    waitingMessages: shareOf(limits, caller, 'waiting_messages'),
    budgets,
  };
}

export function isLimited(allowance: TurnAllowance): boolean {
  const { tokenDailyTokens, tokenTurns, sessionDailyTokens, budgets } = allowance;
  return tokenDailyTokens > 0 || tokenTurns > 0 || sessionDailyTokens > 0 || budgets.length > 0;
}

/** The budget that is used up; undefined when none is. */
export function spentBudget(
  standing: LimitUsage,
  allowance: TurnAllowance,
  limits: Limits,
): TurnLimitReached | undefined {
  return spentTokens(standing, allowance) ?? spentMoney(standing, allowance, limits);
}

function spentMoney(
  { budgets_spent: spent }: LimitUsage,
  { budgets }: TurnAllowance,
  limits: Limits,
): TurnLimitReached | undefined {
  const reached = budgets.find(({ limitUsd }, index) => (spent[index] ?? 0) >= limitUsd);
  return reached && budgetRefusal(reached, limits);
}

function spentTokens(standing: LimitUsage, allowance: TurnAllowance): TurnLimitReached | undefined {
  const { sessionDailyTokens, tokenDailyTokens } = allowance;
  const { spent_today: session, token_spent_today: token } = standing;
  const retryAfterSecs = Math.max(1, Math.ceil(standing.day_ends_in_secs));
  if (sessionDailyTokens > 0 && session >= sessionDailyTokens) {
    const sentence = budgetSentence('session', session, sessionDailyTokens);
    return new TurnLimitReached('session_budget', sentence, retryAfterSecs);
  }
  if (tokenDailyTokens === 0 || token < tokenDailyTokens) return undefined;
  const sentence = budgetSentence('API token', token, tokenDailyTokens);
  return new TurnLimitReached('api_token_budget', sentence, retryAfterSecs);
}

/** Set when the API token already runs as many turns as it may. */
export function turnsTaken(
  standing: LimitUsage,
  { tokenTurns: most }: TurnAllowance,
): TurnLimitReached | undefined {
  if (most === 0 || standing.token_turns < most) return undefined;
  const sentence = `This API token has ${most} ${most === 1 ? 'turn' : 'turns'} running, and no more are allowed at once. Send the message again when one has ended.`;
  return new TurnLimitReached('api_token_turns', sentence, 1);
}

function budgetSentence(whose: string, used: number, limit: number): string {
  return `This ${whose} has used ${used} of its ${limit} model tokens for today. The budget begins anew at midnight UTC.`;
}
