import type { AuditLog } from '../../platform/audit-log/audit-log.js';
import type { Database } from '../../platform/database/database.js';
import type { SqlRunner, Statement } from '../../platform/database/sql.js';
import { ERASURE_PLAN, type TablePlan } from './erasure-plan.js';
import { GIVEN, givenValues, type Person } from './person.js';
import { existingTables } from './tables.js';

const ROWS_AT_ONCE = 200;
const LARGE_ROWS_AT_ONCE = 2;

const ONE_MOMENT: Statement = {
  name: 'privacy.one_moment',
  text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY',
};

interface ExportedRow {
  at: string;
  row: string;
}

/**
 * Writes everything that is stored of a person as NDJSON: one document a table, `{"table": …, "rows": […]}`, all as it was
 * at one moment. Bytes are in hexadecimal as PostgreSQL writes them; secrets are left out. Tables without a row of the person
 * are documents without rows, so that a reader sees that they were looked at.
 */
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
      const tables = (await existingTables(runner)).filter(([, plan]) => plan.mine !== undefined);
      let all = 0;
      for (const [table] of tables) all += await countOf(runner, table, person);
      let done = 0;
      for (const [table, plan] of tables) {
        await exportTable(runner, [table, plan], person, (text, count) => {
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
  [table, plan]: readonly [string, TablePlan],
  person: Person,
  write: (text: string, count: number) => void,
): Promise<void> {
  write(`{"table":${JSON.stringify(table)},"rows":[`, 0);
  let separator = '';
  for (let after = '(0,0)'; ; ) {
    const page = await runner.query<ExportedRow>(pageOf(table, plan), [...givenValues(person), after]);
    const last = page.at(-1);
    if (last === undefined) break;
    write(separator + page.map(({ row }) => row).join(','), page.length);
    separator = ',';
    after = last.at;
  }
  write(']}\n', 0);
}

function pageOf(table: string, { mine, secret = [], large }: TablePlan): Statement {
  const without = secret.map((column) => ` - '${column}'`).join('');
  const row = without === '' ? 'row_to_json(t)::text' : `(to_jsonb(t)${without})::text`;
  return {
    name: `privacy.export_${table}`,
    replanned: true,
    text: `
      WITH ${GIVEN}
      SELECT t.ctid::text AS at, ${row} AS row FROM ${table} AS t, given
      WHERE t.ctid > $6::tid AND (${mine ?? 'false'})
      ORDER BY t.ctid LIMIT ${large === true ? LARGE_ROWS_AT_ONCE : ROWS_AT_ONCE}`,
  };
}

/** How many rows of a table are about the person. */
export async function countOf(runner: SqlRunner, table: string, person: Person): Promise<number> {
  const statement = {
    name: `privacy.count_${table}`,
    replanned: true,
    text: `WITH ${GIVEN} SELECT count(*)::float8 AS n FROM ${table} AS t, given WHERE ${ERASURE_PLAN[table]?.mine ?? 'false'}`,
  };
  const [row] = await runner.query<{ n: number }>(statement, givenValues(person));
  return row?.n ?? 0;
}
