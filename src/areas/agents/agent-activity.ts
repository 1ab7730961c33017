import type { Database } from '../../platform/database/database.js';
import { arrayOf, double, integer, nullable, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { costTodayByAgent } from '../usage/usage.api.js';

/** What an agent is doing at the moment. */
export interface AgentActivity {
  /** Sessions that have not ended. */
  readonly sessions: number;
  /** In US dollars, since midnight UTC; null when something was used and nothing of it is priced. */
  readonly spentToday: number | null;
}

const ACTIVITY = statement({
  name: 'agents.activity',
  params: { names: arrayOf(text) },
  row: { name: text, sessions: integer, spent_today: nullable(double) },
  sql: `
    WITH live AS (SELECT agent, count(*)::int AS n FROM sessions WHERE status <> 'terminated' GROUP BY agent),
      used AS (${costTodayByAgent(':names::text[]')})
    SELECT asked.name, coalesce(live.n, 0) AS sessions,
      CASE WHEN used.agent IS NULL THEN 0 ELSE used.cost_usd END AS spent_today
    FROM unnest(:names::text[]) AS asked (name)
    LEFT JOIN live ON live.agent = asked.name LEFT JOIN used ON used.agent = asked.name`,
});

const IDLE: AgentActivity = { sessions: 0, spentToday: 0 };

/** What each of these agents is doing. */
export async function readActivity(
  database: Database,
  names: readonly string[],
): Promise<(name: string) => AgentActivity> {
  const rows = await database.query(ACTIVITY, { names });
  const known = new Map(
    rows.map(({ name, sessions, spent_today: spentToday }) => [name, { sessions, spentToday }]),
  );
  return (name) => known.get(name) ?? IDLE;
}
