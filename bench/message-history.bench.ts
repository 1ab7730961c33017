import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { type Ask, compare } from './harness/compare.js';
import { figuresText, informs } from './harness/rows.js';
import { seedMessages, seedSessions, vacuum } from './harness/seed.js';
import { TIMING } from './harness/timing.js';
import { contender, flatRows, type Sized, TwoSizes } from './harness/two-sizes.js';

/** How many different positions in the history are requested. */
const PLACES = 500;

/** Pages of one session's history: as fast in a long conversation as in a short one. */
export const messageHistory: Benchmark = { name: 'message-history', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const sizes = await TwoSizes.open(bench);
  const { small, large } = sizes;
  const asks = { small: await history(small), large: await history(large) };
  const comparison = await compare(
    bench,
    {
      small: contender(small.gateway, asks.small),
      large: contender(large.gateway, asks.large),
      smallBare: contender(small.bare, asks.small),
      largeBare: contender(large.bare, asks.large),
    },
    { ...TIMING, slotMs: TIMING.slotMs / 1.5, warmUpMs: 1500 },
  );
  await sizes.close();
  return [
    ...flatRows('GET …/messages?before=, messages', comparison, ['small', 'large'], 0.9),
    informs(
      {
        path: 'GET …/messages?before=: against bare',
        measured: figuresText(comparison.figures('large')),
        baseline: `bare: ${figuresText(comparison.figures('largeBare'))}`,
      },
      `${comparison.ratio('large', 'largeBare').toFixed(2)} ×`,
    ),
  ];
}

async function history({ database, size }: Sized): Promise<Ask> {
  const [session] = await seedSessions(database, 1);
  if (session === undefined) throw new Error('There is no session.');
  const ids = await seedMessages(database, session, size);
  await vacuum(database);
  // Positions late enough that every page is full.
  const places = Array.from(
    { length: PLACES },
    (_, n) => ids[Math.floor(100 + ((size - 101) * n) / PLACES)] ?? '',
  );
  const paths = places.map((id) => `/api/v1/sessions/${session}/messages?limit=50&before=${id}`);
  return { clients: 16, method: 'GET', paths };
}
