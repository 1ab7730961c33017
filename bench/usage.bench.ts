import { USAGE_DIMENSIONS } from '../src/areas/usage/usage-period.js';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { compare } from './harness/compare.js';
import { atMost, figuresText, informs } from './harness/rows.js';
import { seedUsage, vacuum, waitForTotals } from './harness/seed.js';
import { TIMING } from './harness/timing.js';
import { contender } from './harness/two-sizes.js';

const FEW = 1000;
const MANY = process.env['BENCH_LARGE'] === '1' ? 10_000_000 : 1_000_000;
const DAYS = 30;
const USERS = 1000;
/** For a page that covers a month. */
const MOST_MS = 1000;

/**
 * Usage of a month by each dimension, after few turns and after many, and how fast the entries of many turns are
 * summed up.
 */
export const usage: Benchmark = { name: 'usage', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const [small, large] = [await opened(bench, FEW), await opened(bench, MANY)];
  const rows: Row[] = [
    informs(
      { path: `${MANY.toLocaleString('en')} turns are summed up`, measured: '', baseline: '' },
      `${Math.round(MANY / large.seconds).toLocaleString('en')} turns a second`,
    ),
  ];
  for (const by of [...USAGE_DIMENSIONS, USAGE_DIMENSIONS.join(',')]) {
    const ask = { clients: 1, method: 'GET', paths: [`/admin/v1/usage?by=${by}&limit=500`] } as const;
    const compared = await compare(
      bench,
      { small: contender(small.gateway, ask), large: contender(large.gateway, ask) },
      { ...TIMING, rounds: 3, warmUpMs: 300 },
    );
    const row = {
      path: `GET /admin/v1/usage?by=${by}, ${MANY.toLocaleString('en')} turns of ${USERS.toLocaleString('en')} users: p50`,
      measured: `${figuresText(compared.figures('large'))} (${large.rows.toLocaleString('en')} rows)`,
      baseline: `${FEW.toLocaleString('en')} turns: ${figuresText(compared.figures('small'))}`,
    };
    rows.push(atMost(row, compared.figures('large').p50Ms, MOST_MS, 'ms'));
  }
  for (const one of [small, large]) await one.close();
  return rows;
}

async function opened(bench: Bench, turns: number) {
  const database = await bench.database();
  await seedUsage(database, { turns, days: DAYS, users: USERS });
  const startedAt = performance.now();
  const gateway = await bench.gateway({ databaseUrl: database.url });
  await waitForTotals(database);
  const seconds = (performance.now() - startedAt) / 1000;
  await vacuum(database);
  const [counted] = await database.query<{ rows: number; turns: number }>(
    'SELECT count(*)::int AS rows, sum(turns)::int AS turns FROM usage_days',
  );
  if (counted?.turns !== turns) throw new Error(`${counted?.turns} of ${turns} turns were summed up.`);
  return {
    ...{ gateway, seconds, rows: counted.rows },
    close: async () => {
      await gateway.stop();
      await database.drop();
    },
  };
}
