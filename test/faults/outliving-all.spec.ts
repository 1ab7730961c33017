import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultProxy } from '../harness/fault-proxy.js';
import { oneOf } from './support/chance.js';
import { type FaultTerms, OUTLIVE_SEED, outlivingRun } from './support/outliving/outliving-run.js';

/** The long form: OUTLIVE_SECONDS=600. OUTLIVE_SEED repeats a run. */
const SECONDS = Number(process.env['OUTLIVE_SECONDS'] ?? 10);
/** No fault lasts longer. */
const MAX_MS = 4000;
jest.setTimeout(900_000 + SECONDS * 2000);

const SLOW = { latencyMs: 30, bytesPerSecond: 200_000 };

type Kind =
  | 'kill'
  | 'terminate'
  | 'restart'
  | 'slow'
  | 'slow model'
  | 'freeze'
  | 'reset'
  | 'cut'
  | 'half-cut';
const KINDS: readonly Kind[] = [
  ...(['kill', 'kill', 'terminate', 'restart'] as const),
  ...(['slow', 'slow model', 'freeze', 'reset', 'cut', 'half-cut'] as const),
];

async function injectFault(kind: Kind, { fleet, deaths, random }: FaultTerms): Promise<void> {
  const way = fleet.database.ways.get('database') as FaultProxy;
  const forMs = 300 + random() * (MAX_MS - 300);
  const lasting = async (harmed: FaultProxy): Promise<void> => {
    await sleep(forMs);
    await harmed.mend();
  };
  const place = oneOf(random, fleet.places);
  switch (kind) {
    case 'kill': {
      const pid = await place.kill();
      if (pid !== undefined) await deaths.died(pid);
      return;
    }
    case 'terminate':
      await place.terminate();
      return;
    case 'restart':
      return fleet.database.restart();
    case 'slow':
      way.slow(SLOW);
      return lasting(way);
    case 'slow model':
      fleet.provider.slow(SLOW);
      return lasting(fleet.provider);
    case 'freeze':
      way.freeze();
      return lasting(way);
    case 'reset':
      return way.reset();
    case 'cut':
      await way.cut();
      return lasting(way);
    case 'half-cut':
      way.halfCut();
      return lasting(way);
    default:
      throw new Error(kind satisfies never);
  }
}

test(`kills, stops, restarts of the database and slow, frozen and broken connections for ${SECONDS} s (OUTLIVE_SEED=${OUTLIVE_SEED}): every accepted message is answered exactly once`, async () => {
  const { violations } = await outlivingRun('turns-outlive-all', async (terms) => {
    const faults: Record<string, number> = {};
    const beganAt = performance.now();
    let left: Kind[] = [];
    while (performance.now() - beganAt < SECONDS * 1000) {
      await sleep(300 + terms.random() * 1500);
      // Each kind once before the first comes again.
      if (left.length === 0) left = [...KINDS];
      const [kind] = left.splice(Math.floor(terms.random() * left.length), 1) as [Kind];
      await injectFault(kind, terms);
      faults[kind] = (faults[kind] ?? 0) + 1;
    }
    return { faults };
  });
  expect(violations).toEqual([]);
});
