import type { SqlRunner } from '../../platform/database/sql.js';
import { arrayOf, double, integer, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { ERASURE_PLAN, type TablePlan } from './erasure-plan.js';

/** Rows of one statement; few of tables with large ones. */
const EXPORTED_AT_ONCE = 200;
const LARGE_EXPORTED_AT_ONCE = 2;
const ERASED_AT_ONCE = 500;
const LARGE_ERASED_AT_ONCE = 20;

/** What the plan's conditions know of a person (`personParams`). */
export const PERSON = { id: text, hash: text, json: text, word: text, mark: text };
export const GIVEN = `given AS (
  SELECT :id::text AS id, :hash::text AS hash, :json::text AS json, :word::text AS word, :mark::text AS mark)`;
const DONE = { found: integer, done: integer };

/** Every table of the plan with its statements, in the plan's order. */
export const PLANNED_TABLES = Object.entries(ERASURE_PLAN).map(([table, plan]) => ({
  table,
  /** Undefined where no row is about a person. */
  rows: plan.mine === undefined ? undefined : rowsOf(table, plan, plan.mine),
  /** Undefined where rows stay. */
  erase: plan.mine === undefined || plan.stays === true ? undefined : eraseOf(table, plan, plan.mine),
  changes: changesOf(table, plan),
}));
export type PlannedTable = (typeof PLANNED_TABLES)[number];

/**
 * To be repeated until it finds no more than it changes, and fewer than `atOnce`. A row that somebody else has changed
 * since the statement began is found, but not changed: its next run sees it.
 */
export type Batched = ReturnType<typeof eraseOf>;

const EXISTING = statement({
  name: 'privacy.tables',
  params: { tables: arrayOf(text) },
  row: { name: text },
  sql: 'SELECT name FROM unnest(:tables::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
});

/** The tables of the plan that this database has. */
export async function existingTables(runner: SqlRunner): Promise<readonly PlannedTable[]> {
  const rows = await runner.query(EXISTING, { tables: PLANNED_TABLES.map(({ table }) => table) });
  const names = new Set(rows.map(({ name }) => name));
  return PLANNED_TABLES.filter(({ table }) => names.has(table));
}

/** Counts, finds and exports the rows that are about a person. */
function rowsOf(table: string, { secret = [], large }: TablePlan, mine: string) {
  const without = secret.map((column) => ` - '${column}'`).join('');
  const row = without === '' ? 'row_to_json(t)::text' : `(to_jsonb(t)${without})::text`;
  return {
    count: statement({
      name: `privacy.count_${table}`,
      replanned: true,
      params: PERSON,
      row: { n: double },
      sql: `WITH ${GIVEN} SELECT count(*)::float8 AS n FROM ${table} AS t, given WHERE ${mine}`,
    }),
    /** Where they are, in order; true within one snapshot. */
    places: statement({
      name: `privacy.find_${table}`,
      replanned: true,
      params: PERSON,
      row: { place: text },
      sql: `WITH ${GIVEN} SELECT t.ctid::text AS place FROM ${table} AS t, given WHERE ${mine} ORDER BY t.ctid`,
    }),
    page: statement({
      name: `privacy.export_${table}`,
      params: { places: arrayOf(text) },
      row: { row: text },
      sql: `SELECT ${row} AS row FROM ${table} AS t WHERE t.ctid = ANY (:places::text[]::tid[]) ORDER BY t.ctid`,
    }),
    exportedAtOnce: large === true ? LARGE_EXPORTED_AT_ONCE : EXPORTED_AT_ONCE,
  };
}

function counted(done: string): string {
  return `SELECT (SELECT count(*) FROM found)::int AS found, (SELECT count(*) FROM ${done})::int AS done`;
}

function eraseOf(table: string, { large, erasedInOrderOf: order }: TablePlan, mine: string) {
  const atOnce = large === true ? LARGE_ERASED_AT_ONCE : ERASED_AT_ONCE;
  return {
    atOnce,
    statement: statement({
      name: `privacy.delete_${table}`,
      replanned: true,
      params: PERSON,
      row: DONE,
      sql: `
        WITH ${GIVEN}, found AS MATERIALIZED (
          SELECT t.ctid AS place FROM ${table} AS t, given WHERE ${mine}${order === undefined ? '' : ` ORDER BY ${order}`} LIMIT ${atOnce} FOR UPDATE OF t
        ), gone AS (
          DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT place FROM found)) RETURNING 1
        )
        ${counted('gone')}`,
    }),
  };
}

/** Take the person's ids out of rows that stay. */
function changesOf(table: string, { hashed = [], also }: TablePlan): Batched[] {
  const ids = hashed.map((column) =>
    changeOf(table, column, { set: `${column} = given.hash`, where: `t.${column} = given.id` }),
  );
  return also === undefined ? ids : [changeOf(table, 'also', also), ...ids];
}

function changeOf(table: string, what: string, { set, where }: NonNullable<TablePlan['also']>): Batched {
  return {
    atOnce: ERASED_AT_ONCE,
    statement: statement({
      name: `privacy.change_${table}_${what}`,
      replanned: true,
      params: PERSON,
      row: DONE,
      sql: `
        WITH ${GIVEN}, found AS MATERIALIZED (
          SELECT t.ctid AS place FROM ${table} AS t, given WHERE ${where} LIMIT ${ERASED_AT_ONCE}
        ), changed AS (
          UPDATE ${table} SET ${set} FROM given WHERE ${table}.ctid = ANY (ARRAY(SELECT place FROM found)) RETURNING 1
        )
        ${counted('changed')}`,
    }),
  };
}
