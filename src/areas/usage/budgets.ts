import { formatPath } from '../../platform/settings/dotted-path.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { isChannel, ownLimitsOf } from '../../platform/tokens/token-shares.js';

type Limits = GatewaySettings['limits'];
type Amounts = Pick<Limits['all'], 'daily_usd' | 'monthly_usd'>;

/** Whose spending a budget bounds, by the keys of `[limits]`. */
export type BudgetScope = 'all' | 'users' | 'api_tokens' | 'agents';
export type BudgetPeriod = 'day' | 'month';

/** One amount that must not be exceeded; its name is empty for `all`. */
export interface Budget {
  readonly scope: BudgetScope;
  readonly name: string;
  readonly period: BudgetPeriod;
  readonly limitUsd: number;
}

/** Whom a turn counts towards. */
export interface TurnParties {
  readonly userId: string;
  readonly agent: string;
  readonly caller: Pick<Caller, 'tokenId' | 'tokenName'>;
}

const PERIODS = [
  ['day', 'daily_usd'],
  ['month', 'monthly_usd'],
] as const;
const NONE: readonly Budget[] = [];

const isSet = (amounts: Amounts): boolean => PERIODS.some(([, key]) => (amounts[key] ?? 0) > 0);

interface SetBudgets {
  readonly any: boolean;
  readonly needSession: boolean;
}

/** Every message asks several times, so the answers are cached for each state of the settings. */
const known = new WeakMap<Limits, SetBudgets>();

/** Whether budgets depend on the session, and not on the caller alone. */
export function needSession(limits: Limits): boolean {
  return setBudgets(limits).needSession;
}

/** Whether there are any budgets at all. */
export function areSet(limits: Limits): boolean {
  return setBudgets(limits).any;
}

function setBudgets(limits: Limits): SetBudgets {
  let found = known.get(limits);
  if (found === undefined) {
    const { all, each_api_token: eachToken, api_tokens: tokens } = limits;
    const { users, agents, each_user: eachUser, each_agent: eachAgent } = limits;
    const ofSession = isSet(eachUser) || isSet(eachAgent) || hasEntries(users) || hasEntries(agents);
    found = {
      needSession: ofSession,
      any: ofSession || isSet(all) || isSet(eachToken) || hasEntries(tokens),
    };
    known.set(limits, found);
  }
  return found;
}

/** Every budget that applies to a turn of these parties. */
export function budgetsOf(limits: Limits, parties: TurnParties): readonly Budget[] {
  if (!areSet(limits)) return NONE;
  const { userId, agent, caller } = parties;
  const token = apiTokenOf(caller);
  const eachToken = isChannel(caller) ? {} : limits.each_api_token;
  return [
    ...amountsOf('all', '', limits.all, {}),
    ...amountsOf('users', userId, entry(limits.users, userId), limits.each_user),
    ...amountsOf('api_tokens', token, ownLimitsOf(limits, caller), eachToken),
    ...amountsOf('agents', agent, entry(limits.agents, agent), limits.each_agent),
  ];
}

/** The budgets of one user, agent or API token by its name, or of all. */
export function budgetsFor(limits: Limits, scope: BudgetScope, name: string): readonly Budget[] {
  switch (scope) {
    case 'all':
      return amountsOf(scope, name, limits.all, {});
    case 'users':
      return amountsOf(scope, name, entry(limits.users, name), limits.each_user);
    case 'agents':
      return amountsOf(scope, name, entry(limits.agents, name), limits.each_agent);
    case 'api_tokens': {
      const each = isChannel({ tokenId: name }) ? {} : limits.each_api_token;
      return amountsOf(scope, name, entry(limits.api_tokens, name), each);
    }
    default:
      return scope satisfies never;
  }
}

/** The name under which a caller's usage is counted. */
export function apiTokenOf(caller: Pick<Caller, 'tokenId' | 'tokenName'>): string {
  return isChannel(caller) ? caller.tokenId : caller.tokenName;
}

/** The setting that applies to it, as an operator would write it. */
export function settingOf({ scope, name, period }: Budget, limits: Limits): string {
  const key = period === 'day' ? 'daily_usd' : 'monthly_usd';
  if (scope === 'all') return `limits.all.${key}`;
  const own = entry<Amounts>(limits[scope], name);
  const each = { users: 'each_user', api_tokens: 'each_api_token', agents: 'each_agent' }[scope];
  return own?.[key] === undefined ? `limits.${each}.${key}` : formatPath(['limits', scope, name, key]);
}

/** Each period separately: an entry that names one leaves the other to the general rule. */
function amountsOf(scope: BudgetScope, name: string, own: Amounts | undefined, each: Amounts): Budget[] {
  return PERIODS.flatMap(([period, key]) => {
    const limitUsd = own?.[key] ?? each[key] ?? 0;
    return limitUsd > 0 ? [{ scope, name, period, limitUsd }] : [];
  });
}

function entry<Entry>(entries: Readonly<Record<string, Entry>>, name: string): Entry | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

function hasEntries(entries: Readonly<Record<string, Amounts>>): boolean {
  return Object.values(entries).some(isSet);
}
