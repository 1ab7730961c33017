import type { DataSource } from 'typeorm';
import { migrations } from './migrations.js';

/** How far a database's schema is, seen from this version. */
export interface SchemaState {
  /** Whether any gateway ever brought its schema here. */
  readonly exists: boolean;
  /** The names of this version's migrations that have not run, in their order. */
  readonly missing: readonly string[];
}

const EXISTS = `SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`;
const APPLIED = 'SELECT name FROM schema_migrations';

/** Looks which migrations have run; changes nothing. Rejects with the driver's error. */
export async function schemaState(dataSource: DataSource): Promise<SchemaState> {
  const [found]: { exists: boolean }[] = await dataSource.query(EXISTS);
  const rows: { name: string }[] = found?.exists === true ? await dataSource.query(APPLIED) : [];
  const applied = new Set(rows.map(({ name }) => name));
  const missing = migrations.map(({ name }) => name).filter((name) => !applied.has(name));
  return { exists: applied.size > 0, missing };
}
