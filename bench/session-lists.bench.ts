import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { type Ask, type Comparison, type Contender, compare } from './harness/compare.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { figuresText, informs } from './harness/rows.js';
import { NEVER_SILENT, seedSessions, vacuum } from './harness/seed.js';
import { TIMING } from './harness/timing.js';
import { contender, flatRows, type Sized, TwoSizes } from './harness/two-sizes.js';

const FIRST_PAGE: Ask = { clients: 16, method: 'GET', paths: ['/api/v1/sessions?limit=50'] };
/** Of every ten seeded sessions eight are not terminated, and a list shows those by default. */
const LIVING = 0.8;

/**
 * Lists of sessions with their totals: as fast with many sessions as with few. With BENCH_AGAINST=<folder> the build there
 * takes part on the large database; five pools need a server (BENCH_DATABASE_URL) with more than the 50 connections of the embedded one.
 */
export const sessionLists: Benchmark = { name: 'sessions-list', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const sizes = await TwoSizes.open(bench);
  const { small, large } = sizes;
  for (const { database, size } of [small, large]) {
    await seedSessions(database, size);
    await vacuum(database);
  }
  const checkout = process.env['BENCH_AGAINST'];
  const options = { databaseUrl: large.database.url, environment: NEVER_SILENT, checkout };
  const other = checkout === undefined ? undefined : await bench.gateway(options);
  const slots = { ...TIMING, slotMs: TIMING.slotMs / 1.5, warmUpMs: 1500 };
  const first = await compare(
    bench,
    {
      small: contender(small.gateway, FIRST_PAGE),
      large: contender(large.gateway, FIRST_PAGE),
      smallBare: contender(small.bare, FIRST_PAGE),
      largeBare: contender(large.bare, FIRST_PAGE),
      ...otherContender(other, FIRST_PAGE),
    },
    slots,
  );
  const deep = await compare(
    bench,
    {
      small: contender(small.gateway, deepPage(small)),
      large: contender(large.gateway, deepPage(large)),
      ...otherContender(other, deepPage(large)),
    },
    { ...slots, warmUpMs: 500 },
  );
  await other?.stop();
  await sizes.close();
  return [
    ...againstOther('GET /sessions, first page', first, other),
    ...againstOther('GET /sessions, at 90 % of the list', deep, other),
    ...flatRows('GET /sessions, first page', first, ['small', 'large'], 0.9),
    informs(
      {
        path: 'GET /sessions, first page: against bare',
        measured: figuresText(first.figures('large')),
        baseline: `bare: ${figuresText(first.figures('largeBare'))}`,
      },
      `${first.ratio('large', 'largeBare').toFixed(2)} × (small: ${first.ratio('small', 'smallBare').toFixed(2)} ×)`,
    ),
    ...flatRows('GET /sessions, at 90 % of the list', deep, ['small', 'large'], 0.5),
  ];
}

/** Empty without another build; its figures are then not asked for. */
function otherContender(other: GatewayProcess | undefined, ask: Ask): { other: Contender } {
  return (other === undefined ? {} : { other: contender(other, ask) }) as { other: Contender };
}

function againstOther(
  path: string,
  found: Comparison<'large' | 'other'>,
  other: GatewayProcess | undefined,
): Row[] {
  if (other === undefined) return [];
  const [rate, cpu] = [found.ratio('large', 'other'), found.ratio('large', 'other', 'cpuMsPerRequest')];
  return [
    informs(
      {
        path: `${path}: against ${other.name}`,
        measured: figuresText(found.figures('large')),
        baseline: figuresText(found.figures('other')),
      },
      `${rate.toFixed(3)} ×, CPU ${cpu.toFixed(3)} ×`,
    ),
  ];
}

function deepPage({ size }: Sized): Ask {
  const offset = Math.floor(size * LIVING * 0.9);
  return { clients: 4, method: 'GET', paths: [`/api/v1/sessions?limit=50&offset=${offset}`] };
}
