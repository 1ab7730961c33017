import pg from 'pg';
import type { DatabaseAddress } from './data-source.js';

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

/** Rows copied so far, of all rows. */
type ShowProgress = (done: number, all: number) => void;

/** The copy was refused, and nothing was changed. */
export class CopyRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/**
 * A connection was lost. What was not committed is gone; whether a commit that was under way took effect is unknown.
 */
class CopyBrokenOff extends Error {
  constructor(which: 'copied from' | 'copied to', cause: Error) {
    const reason = cause.message.replace(/\.$/, '');
    super(
      `The connection to the database that is ${which} was lost (${reason}). Run this again: it copies everything, or says that everything has been copied.`,
      { cause },
    );
    this.name = new.target.name;
  }
}

interface Table {
  readonly name: string;
  /** All columns except generated ones. */
  readonly columns: readonly string[];
  readonly hasBytes: boolean;
}

/** Rows for each round trip: few where each row may hold an attachment of 20 MiB. */
const ROWS_AT_ONCE = 100;
const ROWS_WITH_BYTES_AT_ONCE = 4;
const CONNECT_MS = 10_000;
/** One statement writes at most `ROWS_AT_ONCE`. */
const STATEMENT_MS = 600_000;
const MAX_LOCK_WAIT = '10s';
/** Tables that have rows as soon as a database is in use. */
const TELLTALE_TABLES = ['api_tokens', 'sessions', 'hooks', 'config_overrides'];

const TABLES = `
  SELECT c.relname AS name,
    array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.attgenerated = '') AS columns,
    bool_or(a.atttypid = 'bytea'::regtype) AS "hasBytes"
  FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
    AND c.relname <> 'schema_migrations'
  GROUP BY c.oid ORDER BY c.relname`;
const REFERENCES = `
  SELECT conrelid::regclass::text AS child, confrelid::regclass::text AS parent FROM pg_constraint
  WHERE contype = 'f' AND conrelid <> confrelid AND connamespace = current_schema()::regnamespace`;
const OTHERS = `
  SELECT count(*)::int AS others FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;
const SEQUENCES = `SELECT sequencename AS name, last_value AS value FROM pg_sequences
  WHERE schemaname = current_schema() AND last_value IS NOT NULL`;

/**
 * Copies every row from one database of the gateway into an empty one with the same schema: all rows or none. Triggers
 * are disabled, because the totals that they keep are copied too. Throws `CopyRefused` when the source is in use or the
 * target is not empty, and `CopyBrokenOff` when a connection is lost.
 */
export async function copyDatabase(
  from: DatabaseAddress,
  to: DatabaseAddress,
  progress: ShowProgress = () => undefined,
): Promise<CopiedTable[]> {
  const [source, target] = [new pg.Client(clientConfig(from)), new pg.Client(clientConfig(to))];
  // Without a listener, losing a connection between two statements would end the process.
  let lost: CopyBrokenOff | undefined;
  source.on('error', (cause) => (lost ??= new CopyBrokenOff('copied from', cause)));
  target.on('error', (cause) => (lost ??= new CopyBrokenOff('copied to', cause)));
  try {
    await Promise.all([source.connect(), target.connect()]);
    return await copyAll(source, target, progress);
  } catch (error) {
    throw lost ?? error;
  } finally {
    // Closing the connection rolls back what was not committed.
    await Promise.allSettled([source.end(), target.end()]);
  }
}

async function copyAll(source: pg.Client, target: pg.Client, progress: ShowProgress): Promise<CopiedTable[]> {
  await source.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await target.query(`BEGIN; SET LOCAL lock_timeout = '${MAX_LOCK_WAIT}'`);
  await refuseInUse(source);
  const tables = await inOrderOfReferences(source);
  const names = tables.map(({ name }) => quoted(name)).join(', ');
  // No one may write between the check and TRUNCATE.
  await target.query(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`);
  await refuseUsedTarget(target);
  await target.query(`TRUNCATE ${names}`);
  const all = await countRows(source, tables);
  const copied: CopiedTable[] = [];
  let done = 0;
  for (const table of tables) {
    const rows = await copyTable(source, target, table, (more) => {
      done += more;
      progress(done, all);
    });
    copied.push({ table: table.name, rows });
  }
  await copySequences(source, target);
  await target.query('COMMIT');
  return copied;
}

async function countRows(source: pg.Client, tables: readonly Table[]): Promise<number> {
  let all = 0;
  for (const { name } of tables) {
    const { rows } = await source.query<{ n: string }>(`SELECT count(*) AS n FROM ${quoted(name)}`);
    all += Number(rows[0]?.n);
  }
  return all;
}

async function refuseInUse(source: pg.Client): Promise<void> {
  const { rows } = await source.query<{ others: number }>(OTHERS);
  if ((rows[0]?.others ?? 0) > 0)
    throw new CopyRefused('A gateway still uses the embedded database. Stop it, and run this again.');
}

async function refuseUsedTarget(target: pg.Client): Promise<void> {
  for (const table of TELLTALE_TABLES) {
    const { rows } = await target.query(`SELECT 1 FROM ${quoted(table)} LIMIT 1`);
    if (rows.length > 0)
      throw new CopyRefused(
        `The database of DATABASE_URL is in use: its table ${table} has rows. Copy into an empty one.`,
      );
  }
}

/** A table comes after those that it refers to. */
async function inOrderOfReferences(source: pg.Client): Promise<Table[]> {
  const { rows: tables } = await source.query<Table>(TABLES);
  const { rows: references } = await source.query<{ child: string; parent: string }>(REFERENCES);
  const ordered = new Map<string, Table>();
  const add = (table: Table): void => {
    if (ordered.has(table.name)) return;
    const parents = references.filter(({ child }) => child === table.name).map(({ parent }) => parent);
    for (const parent of tables.filter(({ name }) => parents.includes(name))) add(parent);
    ordered.set(table.name, table);
  };
  for (const table of tables) add(table);
  return [...ordered.values()];
}

async function copyTable(
  source: pg.Client,
  target: pg.Client,
  table: Table,
  count: (rows: number) => void,
): Promise<number> {
  const name = quoted(table.name);
  const columns = table.columns.map(quoted).join(', ');
  const atOnce = table.hasBytes ? ROWS_WITH_BYTES_AT_ONCE : ROWS_AT_ONCE;
  await target.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
  await source.query(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT row_to_json(t)::text AS row FROM ${name} AS t`,
  );
  let copied = 0;
  for (;;) {
    const { rows } = await source.query<{ row: string }>(`FETCH ${atOnce} FROM copied`);
    if (rows.length === 0) break;
    await target.query(
      `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE
       SELECT ${columns} FROM json_populate_recordset(NULL::${name}, $1::json)`,
      [`[${rows.map(({ row }) => row).join(',')}]`],
    );
    copied += rows.length;
    count(rows.length);
  }
  await source.query('CLOSE copied');
  await target.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
  return copied;
}

async function copySequences(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query<{ name: string; value: string }>(SEQUENCES);
  for (const { name, value } of rows) await target.query('SELECT setval($1, $2)', [quoted(name), value]);
}

function clientConfig(address: DatabaseAddress): pg.ClientConfig {
  return {
    ...('url' in address ? { connectionString: address.url } : address),
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    keepAlive: true,
  };
}

function quoted(name: string): string {
  return pg.escapeIdentifier(name);
}
