import type { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { costTodayByAgent } from '../usage/usage.api.js';

/** What an agent does at the moment. */
export interface AgentActivity {
  /** Live ones. */
  readonly sessions: number;
  /** In US dollars, since midnight UTC; null when something was used and nothing of it is priced. */
  readonly spentToday: number | null;
}

const ACTIVITY: Statement = {
  name: 'agents.activity',
  text: `
    WITH live AS (SELECT agent, count(*)::int AS n FROM sessions WHERE status <> 'terminated' GROUP BY agent),
      used AS (${costTodayByAgent('$1::text[]')})
    SELECT asked.name, coalesce(live.n, 0) AS sessions,
      CASE WHEN used.agent IS NULL THEN 0 ELSE used.cost_usd END AS spent_today
    FROM unnest($1::text[]) AS asked (name)
    LEFT JOIN live ON live.agent = asked.name LEFT JOIN used ON used.agent = asked.name`,
};

const IDLE: AgentActivity = { sessions: 0, spentToday: 0 };

/** What each of these agents does. */
export async function readActivity(
  database: Database,
  names: readonly string[],
): Promise<(name: string) => AgentActivity> {
  const rows = await database.query<{ name: string; sessions: number; spent_today: number | null }>(
    ACTIVITY,
    [names],
  );
  const known = new Map(
    rows.map(({ name, sessions, spent_today: spentToday }) => [name, { sessions, spentToday }]),
  );
  return (name) => known.get(name) ?? IDLE;
}
