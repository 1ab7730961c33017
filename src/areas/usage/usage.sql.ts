import { columnsOf } from '../../platform/database/entity-columns.js';
import {
  bigint,
  boolean,
  date,
  double,
  integer,
  json,
  numeric,
  text,
} from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { dueQuestion } from '../../platform/runtime/due-question.js';
import type { Budget, BudgetScope } from './budgets.js';
import { BudgetNoticeEntity, UsageDayEntity, UsageEntryEntity } from './usage.entities.js';

/** What one party has spent, by the days and months in which it spent more. */
export interface SpentParty {
  readonly scope: BudgetScope;
  readonly name: string;
  readonly day: string;
  readonly month: string;
  readonly day_spent: number;
  readonly month_spent: number;
}

/** Days and months are those of UTC, by the database's clock. */
const TODAY = `(now() AT TIME ZONE 'UTC')::date`;
const THIS_MONTH = `date_trunc('month', now() AT TIME ZONE 'UTC')::date`;

/** What entries and days have in common. */
const SHARED = {
  dimensions: ['agent', 'userId', 'apiToken', 'provider', 'model', 'channel'],
  tokens: [
    ...(['inputTokens', 'cachedInputTokens', 'cacheWriteTokens'] as const),
    ...(['outputTokens', 'reasoningTokens', 'unpricedTokens'] as const),
  ],
} as const;
const DIMENSIONS = Object.keys(columnsOf(UsageEntryEntity, ...SHARED.dimensions));
const TOKENS = Object.keys(columnsOf(UsageEntryEntity, ...SHARED.tokens));
export const COUNTS = ['turns', ...TOKENS] as const;
const COLUMNS = ['day', ...DIMENSIONS, ...COUNTS, 'cost_usd'].join(', ');
const DAY_COLUMNS = Object.keys(
  columnsOf(UsageDayEntity, 'key', ...SHARED.dimensions, 'turns', ...SHARED.tokens, 'costUsd'),
).join(', ');

/** `TurnSpending.rows()` as rows of a table: `json` is SQL. */
const rowsOf = (json: string) => `
  json_to_recordset(${json}) AS used (
    provider text, model text, turns bigint, input bigint, cached_input bigint, cache_write bigint, output bigint,
    reasoning bigint, unpriced bigint, cost numeric)`;
const USED = `used.turns, used.input, used.cached_input, used.cache_write, used.output, used.reasoning, used.unpriced, used.cost`;

/**
 * Two CTEs for a statement that ends a turn: `used` stores what the turn used, from a CTE `held` with agent, user_id
 * and channel of its session, and `total` is the sum over its models. `json` and `apiToken` are SQL.
 */
export function recordUsage(json: string, apiToken: string): string {
  return `used AS (
      INSERT INTO usage_entries (${COLUMNS})
      SELECT ${TODAY}, held.agent, held.user_id, ${apiToken}, used.provider, used.model, held.channel, ${USED}
      FROM held, ${rowsOf(json)}
      RETURNING ${TOKENS.join(', ')}, cost_usd
    ), total AS (
      SELECT ${TOKENS.map((count) => `sum(${count})::bigint AS ${count}`).join(', ')}, sum(cost_usd) AS cost_usd FROM used
    )`;
}

/** What a turn's row stores besides its input and output tokens: assignments of an UPDATE, from `total`. */
export const TURN_COST = `cached_input_tokens = total.cached_input_tokens, cache_write_tokens = total.cache_write_tokens,
        reasoning_tokens = total.reasoning_tokens, unpriced_tokens = total.unpriced_tokens, cost_usd = total.cost_usd`;

/**
 * The same for turns that nobody ends, whose steps say what they used: a CTE `lost` has turn_id, agent, user_id,
 * channel, model and token_id of each. `total` has a row for each turn.
 */
export const RECORD_USAGE_OF_LOST = `spent AS (
      SELECT lost.turn_id, used.provider, used.model, 0 AS turns, used.usage, used."costUsd" AS cost
      FROM lost JOIN turn_steps AS steps ON steps.turn_id = lost.turn_id AND steps.kind IN ('asked', 'spent'),
        json_to_recordset(coalesce(steps.content->'spending', '[]')) AS used (
          provider text, model text, usage json, "costUsd" numeric)
      UNION ALL
      SELECT turn_id, 'default', coalesce(model, 'unknown'), 1, '{}', NULL FROM lost
    ), counted AS (
      SELECT turn_id, provider, model, turns, cost,
        coalesce((usage->>'input')::bigint, 0) AS input, coalesce((usage->>'cachedInput')::bigint, 0) AS cached_input,
        coalesce((usage->>'cacheWrite')::bigint, 0) AS cache_write, coalesce((usage->>'output')::bigint, 0) AS output,
        coalesce((usage->>'reasoning')::bigint, 0) AS reasoning
      FROM spent
    ), used AS (
      INSERT INTO usage_entries (${COLUMNS})
      SELECT ${TODAY}, lost.agent, lost.user_id, coalesce((SELECT name FROM api_tokens WHERE id = lost.token_id), lost.token_id, ''),
        used.provider, used.model, lost.channel, used.turns, used.input, used.cached_input, used.cache_write, used.output,
        used.reasoning, CASE WHEN used.cost IS NULL THEN used.input + used.output ELSE 0 END, used.cost
      FROM counted AS used JOIN lost ON lost.turn_id = used.turn_id
    ), total AS (
      SELECT turn_id, sum(input)::bigint AS input_tokens, sum(cached_input)::bigint AS cached_input_tokens,
        sum(cache_write)::bigint AS cache_write_tokens, sum(output)::bigint AS output_tokens,
        sum(reasoning)::bigint AS reasoning_tokens, sum(cost) AS cost_usd,
        sum(CASE WHEN cost IS NULL THEN input + output ELSE 0 END)::bigint AS unpriced_tokens
      FROM counted GROUP BY turn_id
    )`;

/** Budgets as the expressions below read them. */
export function budgetsJson(budgets: readonly Budget[]): string {
  return JSON.stringify(
    budgets.map(({ scope, name, period, limitUsd }) => ({ scope, name, period, limit_usd: limitUsd })),
  );
}

const EACH_BUDGET = (json: string) => `
  json_to_recordset(${json}) AS budget (scope text, name text, period text, limit_usd numeric)`;
const SPENT = `budget_spent(budget.scope, budget.name, CASE budget.period WHEN 'day' THEN ${TODAY} ELSE ${THIS_MONTH} END)`;

/**
 * What was spent of budgets, read once for a statement that decides by it and returns it: a CTE with `spent`, as in
 * `budgetsSpent`, and `reached`, whether one of them is. `json` is SQL with `budgetsJson`.
 */
export function budgetsStanding(json: string): string {
  return `budgets AS MATERIALIZED (
      SELECT coalesce(json_agg(each_budget.spent::float8), '[]') AS spent,
        coalesce(bool_or(each_budget.spent >= each_budget.limit_usd), false) AS reached
      FROM (SELECT budget.limit_usd, ${SPENT} AS spent FROM ${EACH_BUDGET(json)}) AS each_budget)`;
}

/** What was spent of each budget so far, in order, as a JSON list of numbers. */
export function budgetsSpent(json: string): string {
  return `(SELECT coalesce(json_agg(${SPENT}::float8), '[]') FROM ${EACH_BUDGET(json)})`;
}

/** Seconds until the day and the month end. */
const PERIOD_ENDS = `
    extract(epoch FROM (${TODAY} + 1)::timestamp - now() AT TIME ZONE 'UTC')::float8 AS day_ends_in_secs,
    extract(epoch FROM (${THIS_MONTH} + interval '1 month') - now() AT TIME ZONE 'UTC')::float8 AS month_ends_in_secs`;

/** What was spent of these budgets (`budgetsJson`). */
export const STANDING = statement({
  name: 'usage.standing',
  params: { budgets: json<readonly Budget[]>() },
  row: { spent: json<number[]>(), day_ends_in_secs: double, month_ends_in_secs: double },
  sql: `SELECT ${budgetsSpent(':budgets::json')} AS spent, ${PERIOD_ENDS}`,
});

/** Whether there is anything to sum up. */
export const ANY_ENTRIES = dueQuestion({
  name: 'usage_entries',
  params: {},
  answer: boolean,
  sql: 'EXISTS (SELECT 1 FROM usage_entries)',
});

/** One replica at a time sums up; the others find nothing to do. */
export const LOCK_SUMS = statement({
  name: 'usage.lock_sums',
  params: {},
  row: { locked: boolean },
  sql: `SELECT pg_try_advisory_xact_lock(hashtextextended('sums of usage', 0)) AS locked`,
});

const sums = (columns: readonly string[]) =>
  columns.map((column) => `sum(${column}) AS ${column}`).join(', ');

/**
 * Adds at most `most` entries to their days and to what budgets are compared with, and returns what of those changed, with
 * the sums of the day and the month.
 */
export const SUM_UP = statement({
  name: 'usage.sum_up',
  params: { most: bigint },
  row: { taken: integer, spent: json<SpentParty[]>() },
  sql: `
    WITH taken AS (
      DELETE FROM usage_entries WHERE id IN (SELECT id FROM usage_entries ORDER BY id LIMIT :most FOR UPDATE)
      RETURNING *
    ), days AS (
      INSERT INTO usage_days AS known (day, ${DAY_COLUMNS})
      SELECT day, md5(json_build_array(${DIMENSIONS.join(', ')})::text)::uuid, ${DIMENSIONS.join(', ')}, ${sums([...COUNTS, 'cost_usd'])}
      FROM taken GROUP BY day, ${DIMENSIONS.join(', ')}
      ON CONFLICT (day, key) DO UPDATE SET
        ${COUNTS.map((count) => `${count} = known.${count} + excluded.${count}`).join(', ')},
        cost_usd = CASE WHEN known.cost_usd IS NULL THEN excluded.cost_usd ELSE known.cost_usd + coalesce(excluded.cost_usd, 0) END
    ), spent AS (
      INSERT INTO budget_spending AS known (scope, name, day, cost_usd)
      SELECT party.scope, party.name, day, sum(cost_usd) FROM taken, LATERAL (VALUES
        ('all', ''), ('users', user_id), ('api_tokens', api_token), ('agents', agent)) AS party (scope, name)
      WHERE cost_usd > 0 GROUP BY party.scope, party.name, day
      ON CONFLICT (scope, name, day) DO UPDATE SET cost_usd = known.cost_usd + excluded.cost_usd
      RETURNING scope, name, day, cost_usd
    )
    SELECT (SELECT count(*)::int FROM taken) AS taken, coalesce(json_agg(json_build_object(
      'scope', scope, 'name', name, 'day', day, 'month', date_trunc('month', day)::date,
      'day_spent', cost_usd, 'month_spent', cost_usd + coalesce((
        SELECT sum(before.cost_usd) FROM budget_spending AS before
        WHERE before.scope = spent.scope AND before.name = spent.name AND before.day <> spent.day
          AND before.day >= date_trunc('month', spent.day)::date
          AND before.day < (date_trunc('month', spent.day) + interval '1 month')::date), 0)
    )), '[]') AS spent FROM spent`,
});

/** Gives a row when this was not notified yet. */
export const NOTICE = statement({
  name: 'usage.notice',
  params: {
    ...columnsOf(BudgetNoticeEntity, 'scope', 'name', 'period', 'notice'),
    /** The first day of the period. */
    startsOn: date,
    limitUsd: numeric,
  },
  row: { resets_at: text },
  sql: `
    INSERT INTO budget_notices (scope, name, period, starts_on, limit_usd, notice) VALUES (:scope, :name, :period, :startsOn, :limitUsd, :notice)
    ON CONFLICT DO NOTHING
    RETURNING to_char(starts_on + CASE period WHEN 'day' THEN interval '1 day' ELSE interval '1 month' END,
      'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS resets_at`,
});

/** Deletes at most `most` rows that are older than the days for which usage is kept, 0 for ever. */
export const FORGET_DAYS = statement({
  name: 'usage.forget_some_days',
  params: { days: integer, most: bigint },
  row: { gone: integer },
  sql: `
    WITH gone AS (
      DELETE FROM usage_days WHERE :days::int > 0 AND (day, key) IN (
        SELECT day, key FROM usage_days WHERE day < ${TODAY} - :days::int ORDER BY day, key LIMIT :most FOR UPDATE SKIP LOCKED)
      RETURNING 1)
    SELECT count(*)::int AS gone FROM gone`,
});
/** What budgets are compared with is needed for two months at most. */
export const FORGET_SPENDING = [
  statement({
    name: 'usage.forget_spent',
    params: {},
    row: {},
    sql: `DELETE FROM budget_spending WHERE day < ${TODAY} - 62`,
  }),
  statement({
    name: 'usage.forget_noticed',
    params: {},
    row: {},
    sql: `DELETE FROM budget_notices WHERE starts_on < ${TODAY} - 62`,
  }),
] as const;

/** The sum of the known costs: 0 when there is nothing, and null when there is something but no price is known. */
export const COST = `CASE WHEN sum(unpriced_tokens) = 0 THEN coalesce(sum(cost_usd), 0) ELSE sum(cost_usd) END::float8`;

/**
 * `agent` and `cost_usd` of agents that used something since midnight UTC. `agents` is SQL with a list of their names.
 */
export function costTodayByAgent(agents: string): string {
  const read = (table: string) =>
    `SELECT agent, unpriced_tokens, cost_usd FROM ${table} WHERE day = ${TODAY} AND agent = ANY (${agents})`;
  return `SELECT agent, ${COST} AS cost_usd
    FROM (${read('usage_days')} UNION ALL ${read('usage_entries')}) AS used GROUP BY agent`;
}
