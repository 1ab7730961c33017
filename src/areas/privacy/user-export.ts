import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../platform/audit-log/audit-log.js';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import { statement } from '../../platform/database/statement.js';
import { type Person, personParams } from './person.js';
import { existingTables, type PlannedTable } from './plan.sql.js';

const ONE_MOMENT = statement({
  name: 'privacy.one_moment',
  params: {},
  row: {},
  sql: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY',
});

/**
 * Writes everything that is stored of a person as NDJSON: one document for each table, `{"table": …, "rows": […]}`, all
 * as of one moment. Bytes are in hexadecimal as PostgreSQL writes them; secrets are left out. Tables without a row of
 * the person give documents without rows, so that a reader sees that they were searched.
 */
@Injectable()
export class UserExport {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** @returns the number of rows */
  async run(
    person: Person,
    write: (text: string) => void,
    progress: (done: number, all: number) => void,
  ): Promise<number> {
    const rows = await this.database.transaction(async (runner) => {
      await runner.query(ONE_MOMENT);
      const tables = await existingTables(runner);
      const found: Found[] = [];
      for (const table of tables) found.push({ ...table, places: await placesOf(runner, table, person) });
      const all = found.reduce((sum, { places }) => sum + places.length, 0);
      let done = 0;
      for (const table of found) {
        await exportTable(runner, table, (text, count) => {
          write(text);
          done += count;
          progress(done, all);
        });
      }
      return done;
    });
    const entry = { action: 'user.exported', target: person.id, outcome: 'success', details: { rows } };
    await this.audit.write(this.database, entry);
    return rows;
  }
}

interface Found extends PlannedTable {
  readonly places: readonly string[];
}

async function placesOf(runner: SqlRunner, { rows }: PlannedTable, person: Person): Promise<string[]> {
  if (rows === undefined) return [];
  return (await runner.query(rows.places, personParams(person))).map(({ place }) => place);
}

async function exportTable(
  runner: SqlRunner,
  { table, rows, places }: Found,
  write: (text: string, count: number) => void,
): Promise<void> {
  if (rows === undefined) return;
  write(`{"table":${JSON.stringify(table)},"rows":[`, 0);
  for (let at = 0; at < places.length; at += rows.exportedAtOnce) {
    const page = await runner.query(rows.page, { places: places.slice(at, at + rows.exportedAtOnce) });
    write((at === 0 ? '' : ',') + page.map(({ row }) => row).join(','), page.length);
  }
  write(']}\n', 0);
}

/** How many rows of a table are about the person. */
export async function countOf(runner: SqlRunner, { rows }: PlannedTable, person: Person): Promise<number> {
  const [row] = rows === undefined ? [] : await runner.query(rows.count, personParams(person));
  return row?.n ?? 0;
}
