import type { Bench } from './bench.js';
import { Comparison, type Contender, type Figures, slot, type Timing, turned } from './compare.js';

/** A contender that is started for one slot and stopped after it. */
export interface Passing extends Contender {
  close(): Promise<void>;
}

/**
 * The same comparison with a new process for every slot. What the compiler of one process made of the code stays with it
 * for life: two processes of the same build, on the same settings, differ by a tenth in CPU. Here that difference is spread
 * over the rounds. Each slot begins with the warm-up.
 */
export async function compareFresh<Name extends string>(
  bench: Bench,
  openers: Readonly<Record<Name, () => Promise<Passing>>>,
  { rounds, slotMs, warmUpMs }: Timing,
): Promise<Comparison<Name>> {
  const names = Object.keys(openers) as Name[];
  const slots = Object.fromEntries(names.map((name) => [name, [] as Figures[]])) as Record<Name, Figures[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of turned(names, round)) {
      const passing = await openers[name]();
      await slot(bench, passing, warmUpMs);
      slots[name].push(await slot(bench, passing, slotMs));
      await passing.close();
    }
  }
  return new Comparison(slots);
}
