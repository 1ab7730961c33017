import type { Client } from 'pg';
import type { TypedStatement } from '../../src/platform/database/sql.js';
import type { SqlShape } from '../../src/platform/database/sql-types.js';

/** The tables that grow with sessions, and the column by which a distributed PostgreSQL would spread each of them. */
export const SHARD_KEYS: Readonly<Record<string, string>> = {
  ...{ sessions: 'id', messages: 'session_id', turns: 'session_id' },
  ...{ conversation_summaries: 'session_id', session_audiences: 'session_id' },
  ...{ tool_approvals: 'session_id', tool_questions: 'session_id' },
  // These have no session id yet.
  ...{ turn_steps: 'turn_id', turn_files: 'turn_id', turn_frames: 'turn_id', responses: 'turn_id' },
  attachments: 'message_id',
};
const SHARDS = 4;

/** On which shards a statement would run. */
export interface Reach {
  /** Tables of which it reads or changes several shards. */
  readonly many: readonly string[];
  /** Its ON CONFLICT names a key without the shard column, which no shard could enforce alone. */
  readonly conflicts: boolean;
}

/**
 * Shadows the tables with empty ones that are partitioned by their shard column. The partitions that PostgreSQL's
 * planner does not prune for given values are the nodes to which a distributed database would send the statement.
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

/** Unique keys of the tables in `SHARD_KEYS`. */
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

/** Asks the planner with made-up values; runs nothing. Rejects with PostgreSQL's error. */
export async function reachOf(
  client: Client,
  { text, order, params }: TypedStatement<SqlShape, SqlShape>,
): Promise<Reach> {
  // Values wrapped in sub-selects are hidden from the planner, so that it keeps one plan. Here it must see them.
  const shown = text.replaceAll(/\(SELECT (\$\d+(?:::\w+)?)\)/g, '$1');
  // A text that is cast to `tid` must look like one.
  const said = text.includes('::tid') ? `'(0,1)'` : `'2026-01-01'`;
  const values = order.map((name) => sample(params[name]!.name, said));
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

/** A value of this type. Text values can be cast to a timestamp. */
function sample(type: string, said: string): string {
  if (type.endsWith('[]')) return `ARRAY[${sample(type.slice(0, -2), said)}]::${type}`;
  const known: Readonly<Record<string, string>> = {
    ...{ json: `'[]'`, jsonb: `'[]'`, boolean: 'true', bytea: `''`, tid: `'(0,1)'`, date: 'current_date' },
    ...{ 'timestamp with time zone': 'now()', interval: `'1 s'`, text: said },
  };
  return known[type] ?? '1';
}
