import type { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';

/** What an agent does at the moment. */
export interface AgentActivity {
  /** Live ones. */
  readonly sessions: number;
  /** In US dollars, since midnight UTC. */
  readonly spentToday: number;
}

const ACTIVITY: Statement = {
  name: 'agents.activity',
  text: `
    WITH live AS (SELECT agent, count(*)::int AS n FROM sessions WHERE status <> 'terminated' GROUP BY agent)
    SELECT asked.name, coalesce(live.n, 0) AS sessions,
      budget_spent('agents', asked.name, (now() AT TIME ZONE 'UTC')::date)::float8 AS spent_today
    FROM unnest($1::text[]) AS asked (name) LEFT JOIN live ON live.agent = asked.name`,
};

/** By the names of the agents. */
export async function readActivity(
  database: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, AgentActivity>> {
  const rows = await database.query<{ name: string; sessions: number; spent_today: number }>(ACTIVITY, [
    names,
  ]);
  return new Map(rows.map(({ name, sessions, spent_today: spentToday }) => [name, { sessions, spentToday }]));
}
