import type { TestDatabase } from './database.js';

/** Everything that is in the database, as text; bytes in hexadecimal, as a dump has them. */
export async function everyRow({ query }: Pick<TestDatabase, 'query'>): Promise<string> {
  const tables = await query<{ name: string }>(
    `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const all = await Promise.all(
    tables.map(({ name }) => query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)),
  );
  return all
    .flat()
    .map(({ row }) => row)
    .join('\n');
}
