import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Row } from '../benchmark.js';
import type { Bench } from '../harness/bench.js';
import type { BenchDatabase } from '../harness/database-server.js';
import { atMost, informs, short } from '../harness/rows.js';
import { type Upkeep, watched } from './upkeep.js';
import { gatewayOn, type OpenWorld, type Worlds } from './worlds.js';

/** As many jobs as the machine of the figures has cores. */
const JOBS = '2';
const GIGABYTE = 1e9;
/** Reading everything competes with turns for the processor and the disk. */
const MOST = 2;
/** What must be there after a restore, to the last row. */
const COUNTED = [
  'sessions',
  'messages',
  'turns',
  'usage_days',
  'audit_entries',
  'audit_seals',
  'log_entries',
];

interface Backup {
  readonly dumped: Upkeep;
  readonly dumpBytes: number;
  readonly databaseBytes: number;
  readonly restoreSecs: number;
  readonly readySecs: number;
}

/** A backup with PostgreSQL's own tools while users talk, and a gateway on what was restored from it. */
export async function backupRows(bench: Bench, { small, large }: Worlds): Promise<readonly Row[]> {
  return rowsOf(await backup(bench, small), await backup(bench, large));
}

async function backup(bench: Bench, world: OpenWorld): Promise<Backup> {
  const file = join(await bench.dataDir(), 'backup.dump');
  const before = await counts(world.database);
  const dumped = await watched(bench, world, () => run('pg_dump', ['-Fc', '-f', file, world.database.url]));
  const { size: dumpBytes } = await stat(file);
  const [row] = await world.database.query<{ bytes: number }>(
    'SELECT pg_database_size(current_database())::float8 AS bytes',
  );
  console.error(`backup: ${world.name}: dumped after ${short(dumped.secs)} s`);
  const restored = await bench.database();
  await restored.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const startedAt = performance.now();
  await run('pg_restore', ['-j', JOBS, '--no-owner', '--exit-on-error', '-d', restored.url, file]);
  await restored.query('ANALYZE');
  const restoreSecs = (performance.now() - startedAt) / 1000;
  console.error(`backup: ${world.name}: restored after ${short(restoreSecs)} s`);
  await rm(file);
  // Users went on talking after the dump began.
  const after = await counts(restored);
  for (const [n, table] of COUNTED.entries())
    if ((after[n] ?? 0) < (before[n] ?? 0))
      throw new Error(`${table} has ${after[n]} rows after the restore, and had ${before[n]}.`);
  const gateway = await gatewayOn(bench, restored);
  await gateway.stop();
  await restored.drop();
  const readySecs = gateway.readyAfterMs / 1000;
  return { dumped, dumpBytes, databaseBytes: row?.bytes ?? Number.NaN, restoreSecs, readySecs };
}

async function counts(database: BenchDatabase): Promise<readonly number[]> {
  const sql = COUNTED.map((table) => `(SELECT count(*) FROM ${table})::int`).join(', ');
  const [row] = await database.query<{ all: number[] }>(`SELECT ARRAY [${sql}] AS all`);
  return row?.all ?? [];
}

/** Runs a program of PostgreSQL, which must be at least as new as the server. */
async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${complaint}`);
}

function rowsOf(few: Backup, many: Backup): Row[] {
  const size = ({ dumpBytes, databaseBytes }: Backup) =>
    `${short(dumpBytes / GIGABYTE)} GB of ${short(databaseBytes / GIGABYTE)} GB`;
  const turns = ({ dumped: { turns } }: Backup) =>
    `p50 ${short(turns.during.p50Ms)} ms, p99 ${short(turns.during.p99Ms)} ms; before ${short(turns.before.p50Ms)} and ${short(turns.before.p99Ms)} ms`;
  const secs = (path: string, of: (one: Backup) => number): Row =>
    informs({ path, measured: `${short(of(many))} s`, baseline: `${short(of(few))} s` }, '');
  const { during, before } = many.dumped.turns;
  return [
    secs('pg_dump -Fc, while users talk', ({ dumped }) => dumped.secs),
    informs({ path: 'Size of the backup', measured: size(many), baseline: size(few) }, ''),
    atMost(
      { path: 'Turns during the backup', measured: turns(many), baseline: turns(few) },
      during.p50Ms / before.p50Ms,
      MOST,
      '×',
    ),
    secs(`pg_restore -j ${JOBS}, and ANALYZE`, ({ restoreSecs }) => restoreSecs),
    secs('Start to ready on what was restored', ({ readySecs }) => readySecs),
  ];
}
