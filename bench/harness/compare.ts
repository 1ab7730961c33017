import type { Bench } from './bench.js';
import type { LoadPlan, LoadResult } from './load/load-plan.js';
import { cpuSeconds } from './process-figures.js';
import { median } from './statistics.js';
import type { Target } from './target.js';

export interface Contender {
  readonly target: Target;
  /** What is asked of it; made anew for every slot. */
  plan(): Ask | Promise<Ask>;
}

/** A load without what the target brings: port and credentials. */
export type Ask = Omit<LoadPlan, 'port' | 'durationMs' | 'headers'>;

export interface Timing {
  readonly rounds: number;
  readonly slotMs: number;
  /** Before the first round, for each contender. */
  readonly warmUpMs: number;
}

/** Medians over the slots of one contender. */
export interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU of the server's process, NaN where it cannot be read. */
  readonly cpuMsPerRequest: number;
}

/** What each contender did, slot by slot, so that ratios can be taken within a round. */
export class Comparison<Name extends string> {
  constructor(private readonly slots: Readonly<Record<Name, readonly Figures[]>>) {}

  figures(name: Name): Figures {
    const of = (key: keyof Figures) => median(this.slots[name].map((slot) => slot[key]));
    return {
      perSecond: of('perSecond'),
      p50Ms: of('p50Ms'),
      p99Ms: of('p99Ms'),
      cpuMsPerRequest: of('cpuMsPerRequest'),
    };
  }

  /** The median over the rounds of one's figure divided by the other's in the same round. */
  ratio(one: Name, other: Name, key: keyof Figures = 'perSecond'): number {
    return median(
      this.slots[one].map((slot, round) => slot[key] / (this.slots[other][round]?.[key] ?? Number.NaN)),
    );
  }
}

/**
 * Loads the contenders one after the other, round after round, and begins each round with the next of them: A B C, B C A.
 * Who always went first would always meet what the one before had left to the database. Throws when an answer is no success.
 */
export async function compare<Name extends string>(
  bench: Bench,
  contenders: Readonly<Record<Name, Contender>>,
  { rounds, slotMs, warmUpMs }: Timing,
): Promise<Comparison<Name>> {
  const names = Object.keys(contenders) as Name[];
  for (const name of names) await slot(bench, contenders[name], warmUpMs);
  const slots = Object.fromEntries(names.map((name) => [name, [] as Figures[]])) as Record<Name, Figures[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of turned(names, round)) slots[name].push(await slot(bench, contenders[name], slotMs));
  }
  return new Comparison(slots);
}

/** The names in the order of a round. */
export function turned<Name>(names: readonly Name[], round: number): readonly Name[] {
  const first = round % names.length;
  return [...names.slice(first), ...names.slice(0, first)];
}

/** One contender under load for so long. Throws when an answer is no success. */
export async function slot(bench: Bench, { target, plan }: Contender, durationMs: number): Promise<Figures> {
  const { port, headers, pid } = target;
  const ask = await plan();
  const contentType = ask.body === undefined ? {} : { 'Content-Type': 'application/json' };
  const cpuBefore = cpuSeconds(pid);
  const result = await bench.load({ ...ask, port, durationMs, headers: { ...headers, ...contentType } });
  const cpuMs = (cpuSeconds(pid) - cpuBefore) * 1000;
  if (result.errors > 0) throw refused(target, result);
  const { requests, seconds, p50Ms, p99Ms } = result;
  return { perSecond: requests / seconds, p50Ms, p99Ms, cpuMsPerRequest: cpuMs / requests };
}

function refused({ name }: Target, { errors, requests, firstError = '' }: LoadResult): Error {
  return new Error(
    `${name}: ${errors} of ${requests} answers were no success, the first of them:\n${firstError}`,
  );
}
