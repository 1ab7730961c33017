import type { SqlRunner, Statement } from '../../platform/database/sql.js';
import { ERASURE_PLAN, type TablePlan } from './erasure-plan.js';

const EXISTING: Statement = {
  name: 'privacy.tables',
  text: 'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
};

/** The tables of the plan that this database has, in the plan's order. */
export async function existingTables(runner: SqlRunner): Promise<readonly (readonly [string, TablePlan])[]> {
  const rows = await runner.query<{ name: string }>(EXISTING, [Object.keys(ERASURE_PLAN)]);
  const names = new Set(rows.map(({ name }) => name));
  return Object.entries(ERASURE_PLAN).filter(([table]) => names.has(table));
}
