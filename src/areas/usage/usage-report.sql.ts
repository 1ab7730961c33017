import type { TypedStatement } from '../../platform/database/sql.js';
import { arrayOf, bigint, date, double, json, nullable, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { COST, COUNTS } from './usage.sql.js';

/** The dimensions of usage, with the column of each. */
export const USAGE_BY = {
  day: `to_char(day, 'YYYY-MM-DD')`,
  agent: 'agent',
  user: 'user_id',
  api_token: 'api_token',
  model: `CASE provider WHEN 'default' THEN model ELSE provider || '/' || model END`,
  channel: 'channel',
} as const;

export type UsageDimension = keyof typeof USAGE_BY;

const REPORT_PARAMS = {
  /** Days, both included. */
  ...{ since: date, until: date },
  /** Only of this user and of these agents; null for all. */
  ...{ user: nullable(text), agents: nullable(arrayOf(text)) },
  /** After the row with these values of its dimensions; null for the first page. */
  after: nullable(json<readonly string[]>()),
  most: bigint,
};
export const REPORT_ROW = {
  ...{ turns: double, input_tokens: double, cached_input_tokens: double, cache_write_tokens: double },
  ...{ output_tokens: double, reasoning_tokens: double, unpriced_tokens: double },
  /** Null when no price is known. */
  cost_usd: nullable(double),
};
/**
 * Rows of usage by these dimensions, in order. Entries and days are read in one snapshot, in which each turn counts
 * once. Built for each list of dimensions on demand: there are too many to build them all.
 */
export function usageStatement(by: readonly UsageDimension[]): ReportStatement {
  const name = `usage.by_${by.join('_') || 'nothing'}`;
  const made = reports.get(name) ?? reportStatement(name, by);
  reports.set(name, made);
  return made;
}

const reports = new Map<string, ReportStatement>();

function reportStatement(name: string, by: readonly UsageDimension[]): ReportStatement {
  const within = `day BETWEEN :since::date AND :until::date AND (:user::text IS NULL OR user_id = :user)
    AND (:agents::text[] IS NULL OR agent = ANY (:agents))`;
  const columns = by.map((dimension) => `${USAGE_BY[dimension]} COLLATE "C" AS "by_${dimension}"`);
  const names = by.map((dimension) => `"by_${dimension}"`);
  const after = by.map((_, index) => `:after::json->>${index}`);
  const isBehind =
    by.length === 0
      ? ':after::json IS NULL'
      : `(:after::json IS NULL OR (${names.join(', ')}) > (${after.join(', ')}))`;
  const selected = [...columns, ...COUNTS, 'cost_usd'].join(', ');
  const grouped = [...names, ...COUNTS.map((count) => `sum(${count})::float8 AS ${count}`)].join(', ');
  const order = names.length === 0 ? '' : `GROUP BY ${names.join(', ')} ORDER BY ${names.join(', ')}`;
  return statement({
    name,
    replanned: true,
    params: REPORT_PARAMS,
    row: {
      ...REPORT_ROW,
      ...(Object.fromEntries(by.map((dimension) => [`by_${dimension}`, text])) as ByColumns),
    },
    sql: `
      SELECT ${grouped}, ${COST} AS cost_usd
      FROM (
        SELECT ${selected} FROM usage_days WHERE ${within}
        UNION ALL
        SELECT ${selected} FROM usage_entries WHERE ${within}
      ) AS used
      WHERE ${isBehind} ${order} LIMIT :most`,
  });
}

/** Those of the dimensions that are asked for. */
type ByColumns = Readonly<Record<`by_${UsageDimension}`, typeof text>>;

type ReportStatement = TypedStatement<typeof REPORT_PARAMS, typeof REPORT_ROW & ByColumns>;
