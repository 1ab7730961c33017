import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';
import { type Budget, settingOf } from '../../usage/usage.api.js';
import { TurnLimitReached } from './turn-limit-reached.js';

const WHOSE = {
  all: 'this gateway',
  users: 'this user',
  api_tokens: 'this API token',
  agents: 'this agent',
} as const;

/** What a message is told whose budget is used up; how much of it others spent is not said. */
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
