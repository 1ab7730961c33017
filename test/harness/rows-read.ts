import type { Database } from '../../src/platform/database/database.js';
import type { AnyStatement } from '../../src/platform/database/sql.js';
import { valuesGiven } from '../../src/platform/database/statement.js';
import type { TestDatabase } from './database.js';

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** Runs statements of a store, and counts the rows of a table that PostgreSQL read for them. */
export async function rowsRead(
  { query }: Pick<TestDatabase, 'query'>,
  table: string,
  work: (database: Database) => Promise<unknown>,
): Promise<number> {
  let rows = 0;
  const counting = {
    query: async (statement: AnyStatement, params?: object) => {
      const { text } = statement;
      const values = valuesGiven(statement, params);
      const sql = `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`;
      const [explained] = await query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(sql, values);
      rows += readOf(explained!['QUERY PLAN'][0].Plan, table);
      return query(text, values);
    },
  };
  await work(counting as unknown as Database);
  return rows;
}

function readOf(plan: Plan, table: string): number {
  const removed = plan['Rows Removed by Filter'] ?? 0;
  const own = plan['Relation Name'] === table ? (plan['Actual Rows'] + removed) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, one) => sum + readOf(one, table), own);
}
