import type { Row } from '../benchmark.js';
import type { Bench } from '../harness/bench.js';
import { compare, slot } from '../harness/compare.js';
import type { BenchDatabase } from '../harness/database-server.js';
import { atMost, figuresText, informs, short } from '../harness/rows.js';
import { talk } from './upkeep.js';
import type { OpenWorld, Worlds } from './worlds.js';

const MOST = 1.3;
const COSTS_MS = 5000;

/** What a turn costs and writes in each world, and how large the tables are. */
export async function turnRows(bench: Bench, worlds: Worlds): Promise<readonly Row[]> {
  const { small, large } = worlds;
  const talking = (world: OpenWorld) => ({ target: world.gateway, plan: () => talk(world) });
  const timing = { rounds: 5, slotMs: 1000, warmUpMs: 3000 };
  const compared = await compare(bench, { small: talking(small), large: talking(large) }, timing);
  const [few, many] = [await written(bench, small), await written(bench, large)];
  const text = ({ walBytes, tableBytes }: Written) =>
    `${kb(walBytes)} kB of WAL, ${kb(tableBytes)} kB of tables`;
  return [
    atMost(
      {
        path: 'A whole turn, 8 sessions: p50',
        measured: figuresText(compared.figures('large')),
        baseline: figuresText(compared.figures('small')),
      },
      compared.ratio('large', 'small', 'p50Ms'),
      MOST,
      '×',
    ),
    informs(
      { path: 'A turn writes', measured: text(many), baseline: text(few) },
      `${short(many.walBytes / few.walBytes)} × WAL`,
    ),
    ...(await sizeRows(worlds)),
  ];
}

interface Written {
  readonly walBytes: number;
  readonly tableBytes: number;
}

/** What a turn writes, without the full-page images that follow a checkpoint. */
async function written(bench: Bench, world: OpenWorld): Promise<Written> {
  const { database } = world;
  const target = { target: world.gateway, plan: () => talk(world) };
  await database.query('CHECKPOINT');
  await slot(bench, target, COSTS_MS);
  const before = await counted(database);
  await slot(bench, target, COSTS_MS);
  const after = await counted(database);
  const turns = after.turns - before.turns;
  return { walBytes: (after.wal - before.wal) / turns, tableBytes: (after.bytes - before.bytes) / turns };
}

async function counted(database: BenchDatabase): Promise<{ turns: number; wal: number; bytes: number }> {
  const [row] = await database.query<{ turns: number; wal: number; bytes: number }>(
    `SELECT (SELECT count(*)::int FROM turns WHERE created_at > now() - interval '10 minutes' AND token_id IS DISTINCT FROM 'tok_1') AS turns,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS wal, pg_database_size(current_database())::float8 AS bytes`,
  );
  if (row === undefined) throw new Error('A count has one row.');
  return row;
}

const kb = (bytes: number): string => short(bytes / 1000);

async function sizeRows({ small, large }: Worlds): Promise<Row[]> {
  const few = await sizes(small.database);
  const many = await sizes(large.database);
  return many.slice(0, 8).map(({ name, table, indexes, rows }) => {
    const same = few.find((one) => one.name === name);
    const text = (size: Size) => `${mb(size.table)} MB, indexes ${mb(size.indexes)} MB`;
    return informs(
      {
        path: `Table ${name}`,
        measured: `${text({ name, table, indexes, rows })}, ${rows.toLocaleString('en')} rows`,
        baseline: same ? text(same) : '',
      },
      `${Math.round((table + indexes) / rows)} bytes a row`,
    );
  });
}

const mb = (bytes: number): string => short(bytes / 1e6);

interface Size {
  readonly name: string;
  readonly table: number;
  readonly indexes: number;
  readonly rows: number;
}

function sizes(database: BenchDatabase): Promise<Size[]> {
  return database.query<Size>(
    `SELECT relname AS name, pg_table_size(oid)::float8 AS "table", pg_indexes_size(oid)::float8 AS indexes, reltuples::float8 AS rows
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples > 0
     ORDER BY pg_total_relation_size(oid) DESC LIMIT 10`,
  );
}
