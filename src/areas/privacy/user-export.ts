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
 * Writes everything that is stored of a person as NDJSON: one document a table, `{"table": …, "rows": […]}`, all as it was
 * at one moment. Bytes are in hexadecimal as PostgreSQL writes them; secrets are left out. Tables without a row of the person
 * are documents without rows, so that a reader sees that they were looked at.
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
      let all = 0;
      for (const table of tables) all += await countOf(runner, table, person);
      let done = 0;
      for (const table of tables) {
        await exportTable(runner, table, person, (text, count) => {
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

async function exportTable(
  runner: SqlRunner,
  { table, rows }: PlannedTable,
  person: Person,
  write: (text: string, count: number) => void,
): Promise<void> {
  if (rows === undefined) return;
  write(`{"table":${JSON.stringify(table)},"rows":[`, 0);
  let separator = '';
  for (let after = '(0,0)'; ; ) {
    const page = await runner.query(rows.page, { ...personParams(person), after });
    const last = page.at(-1);
    if (last === undefined) break;
    write(separator + page.map(({ row }) => row).join(','), page.length);
    separator = ',';
    after = last.at;
  }
  write(']}\n', 0);
}

/** How many rows of a table are about the person. */
export async function countOf(runner: SqlRunner, { rows }: PlannedTable, person: Person): Promise<number> {
  const [row] = rows === undefined ? [] : await runner.query(rows.count, personParams(person));
  return row?.n ?? 0;
}
