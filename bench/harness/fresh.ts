import type { Bench } from './bench.js';
import { Comparison, type Contender, type Figures, rotated, slot, type Timing } from './compare.js';

/** A contender that is started for one slot and stopped after it. */
export interface ShortLivedContender extends Contender {
  close(): Promise<void>;
}

/**
 * Like `compare`, but each slot gets a new process and starts with the warm-up. V8 optimises the same code
 * differently in each process, and the result stays for the life of the process: two processes of the same build with
 * the same settings differ by a tenth in CPU. New processes spread that difference over the rounds.
 */
export async function compareFresh<Name extends string>(
  bench: Bench,
  openers: Readonly<Record<Name, () => Promise<ShortLivedContender>>>,
  { rounds, slotMs, warmUpMs }: Timing,
): Promise<Comparison<Name>> {
  const names = Object.keys(openers) as Name[];
  const slots = Object.fromEntries(names.map((name) => [name, [] as Figures[]])) as Record<Name, Figures[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of rotated(names, round)) {
      const passing = await openers[name]();
      await slot(bench, passing, warmUpMs);
      slots[name].push(await slot(bench, passing, slotMs));
      await passing.close();
    }
  }
  return new Comparison(slots);
}
