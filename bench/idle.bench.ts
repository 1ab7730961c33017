import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { BenchDatabase } from './harness/database-server.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { cpuSeconds } from './harness/process-figures.js';
import { informs, short } from './harness/rows.js';

/** After a start V8 returns memory for a while, which is not part of the cost of being idle. */
const SETTLE_MS = 30_000;
const WINDOW_MS = 60_000;

interface Idle {
  readonly gateway: GatewayProcess;
  readonly database: BenchDatabase;
}

interface Cost {
  readonly transactions: number;
  readonly cpuSecs: number;
}

/**
 * What a replica with nothing to do costs; with BENCH_AGAINST=<folder> compared with the build there, in the same
 * minute.
 */
export const idle: Benchmark = { name: 'idle', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const checkout = process.env['BENCH_AGAINST'];
  const mine = await start(bench, undefined);
  const other = checkout ? await start(bench, checkout) : undefined;
  const all = other === undefined ? [mine] : [mine, other];
  await sleep(SETTLE_MS);
  const before = await Promise.all(all.map(spent));
  await sleep(WINDOW_MS);
  const after = await Promise.all(all.map(spent));
  for (const { gateway, database } of all) {
    await gateway.stop();
    await database.drop();
  }
  const costs = after.map((cost, index) => rates(before[index] as Cost, cost));
  return rows(costs as [Rates, Rates?], checkout);
}

async function start(bench: Bench, checkout: string | undefined): Promise<Idle> {
  const database = await bench.database();
  return { database, gateway: await bench.gateway({ databaseUrl: database.url, checkout }) };
}

async function spent({ gateway, database }: Idle): Promise<Cost> {
  const [row] = await database.query<{ count: number }>(
    'SELECT (xact_commit + xact_rollback)::int AS count FROM pg_stat_database WHERE datname = current_database()',
    [],
  );
  return { transactions: row?.count ?? Number.NaN, cpuSecs: cpuSeconds(gateway.pid) };
}

interface Rates {
  readonly transactionsPerSecond: number;
  /** In percent of one core. */
  readonly cpuPercent: number;
}

function rates(before: Cost, after: Cost): Rates {
  const secs = WINDOW_MS / 1000;
  return {
    transactionsPerSecond: (after.transactions - before.transactions) / secs,
    cpuPercent: ((after.cpuSecs - before.cpuSecs) / secs) * 100,
  };
}

function rows([mine, other]: [Rates, Rates?], checkout = ''): Row[] {
  const row = (path: string, unit: string, figure: (rates: Rates) => number): Row => {
    const value = `${short(figure(mine))} ${unit}`;
    if (other === undefined) return informs({ path, measured: '60 s', baseline: '' }, value);
    const baseline = `${checkout}: ${short(figure(other))} ${unit}`;
    return informs({ path, measured: value, baseline }, `${(figure(mine) / figure(other)).toFixed(2)} ×`);
  };
  return [
    row('Nothing to do: transactions', '/s', ({ transactionsPerSecond }) => transactionsPerSecond),
    row('Nothing to do: CPU of the process', '% of a core', ({ cpuPercent }) => cpuPercent),
  ];
}
