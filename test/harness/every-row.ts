import type { TestDatabase } from './database.js';

/** Everything in the database as text; bytes in hexadecimal, as in a dump. */
export async function everyRow({ query }: Pick<TestDatabase, 'query'>): Promise<string> {
  const tables = await query<{ name: string }>(
    `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  expect(tables.length).toBeGreaterThan(20);
  // One after the other: each query needs a connection, and a server has few.
  const rows: string[] = [];
  for (const { name } of tables)
    for (const { row } of await query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`))
      rows.push(row);
  return rows.join('\n');
}
