import type { Client } from 'pg';
import type { TypedStatement } from '../../src/platform/database/sql.js';
import type { SqlShape } from '../../src/platform/database/sql-types.js';

/** The tables that grow with sessions, and the column by which a distributed PostgreSQL would spread each. */
export const SHARD_KEYS: Readonly<Record<string, string>> = {
  ...{ sessions: 'id', messages: 'session_id', turns: 'session_id' },
  ...{ conversation_summaries: 'session_id', session_audiences: 'session_id' },
  ...{ tool_approvals: 'session_id', tool_questions: 'session_id' },
  // They do not name the session yet.
  ...{ turn_steps: 'turn_id', turn_files: 'turn_id', turn_frames: 'turn_id', responses: 'turn_id' },
  attachments: 'message_id',
};
const SHARDS = 4;

/** Where one statement would run. */
export interface Reach {
  /** Tables of which it reads or changes more than one shard. */
  readonly many: readonly string[];
  /** It says ON CONFLICT for a key without the shard's column, which no shard could keep unique by itself. */
  readonly conflicts: boolean;
}

/**
 * Shadows the tables with empty ones that are partitioned by their shard's column. Which partitions PostgreSQL's planner leaves
 * out for given values is what a distributed one would send to one node.
 */
export async function spreadTables(client: Client): Promise<void> {
  await client.query('CREATE SCHEMA spread');
  for (const [table, column] of Object.entries(SHARD_KEYS)) {
    await client.query(
      `CREATE TABLE spread.${table} (LIKE public.${table} INCLUDING DEFAULTS) PARTITION BY HASH (${column})`,
    );
    for (let shard = 0; shard < SHARDS; shard++) {
      await client.query(`CREATE TABLE spread.${table}_shard_${shard} PARTITION OF spread.${table}
        FOR VALUES WITH (MODULUS ${SHARDS}, REMAINDER ${shard})`);
    }
  }
  for (const { table, columns } of await uniqueKeys(client)) {
    if (!columns.includes(SHARD_KEYS[table]!)) continue;
    await client.query(`CREATE UNIQUE INDEX ON spread.${table} (${columns.join(', ')})`);
  }
  await client.query('SET search_path = spread, public; SET plan_cache_mode = force_custom_plan');
}

/** Unique keys of the tables that would be spread. */
export async function uniqueKeys(
  client: Client,
): Promise<readonly { readonly table: string; readonly columns: readonly string[] }[]> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `SELECT indrelid::regclass::text AS table, array_agg(attname::text ORDER BY attnum) AS columns
     FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
     WHERE indisunique AND indrelid = ANY ($1::text[]::regclass[])
     GROUP BY indexrelid, indrelid ORDER BY 1, 2`,
    [Object.keys(SHARD_KEYS).map((table) => `public.${table}`)],
  );
  return rows.map(({ table, columns }) => ({ table: table.replace('public.', ''), columns }));
}

/** Asks the planner, with made-up values: nothing is run. Rejects with PostgreSQL's error. */
export async function reachOf(
  client: Client,
  { text, order, params }: TypedStatement<SqlShape, SqlShape>,
): Promise<Reach> {
  // Values that are hidden from the planner, so that it keeps one plan, are shown.
  const shown = text.replaceAll(/\(SELECT (\$\d+(?:::\w+)?)\)/g, '$1');
  const values = order.map((name) => sample(params[name]!.name));
  const list = values.length === 0 ? '' : `(${values.join(', ')})`;
  try {
    await client.query(`PREPARE asked AS ${shown}`);
    const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(
      `EXPLAIN (FORMAT JSON) EXECUTE asked${list}`,
    );
    return { many: tablesOnMany(rows[0]!['QUERY PLAN']), conflicts: false };
  } catch (error) {
    const NO_SUCH_UNIQUE_KEY = '42P10';
    if ((error as { code?: string }).code === NO_SUCH_UNIQUE_KEY) return { many: [], conflicts: true };
    throw error;
  } finally {
    await client.query('DEALLOCATE ALL');
  }
}

function tablesOnMany(plan: unknown): string[] {
  const shards = new Map<string, Set<string>>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const [, table, shard] =
      /^(\w+)_shard_(\d)$/.exec(String((node as { 'Relation Name'?: string })['Relation Name'])) ?? [];
    if (table !== undefined && shard !== undefined) {
      shards.set(table, (shards.get(table) ?? new Set()).add(shard));
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(plan);
  return [...shards].filter(([, seen]) => seen.size > 1).map(([table]) => table);
}

/** A value of this type; texts are such that one can be cast to a time. */
function sample(type: string): string {
  if (type.endsWith('[]')) return `ARRAY[${sample(type.slice(0, -2))}]::${type}`;
  const known: Readonly<Record<string, string>> = {
    ...{ json: `'[]'`, jsonb: `'[]'`, boolean: 'true', bytea: `''`, tid: `'(0,1)'`, date: 'current_date' },
    ...{ 'timestamp with time zone': 'now()', interval: `'1 s'`, text: `'2026-01-01'` },
  };
  return known[type] ?? '1';
}
