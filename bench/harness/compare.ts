import type { Bench } from './bench.js';
import type { LoadPlan, LoadResult } from './load/load-plan.js';
import { cpuSeconds } from './process-figures.js';
import { median } from './statistics.js';
import type { Target } from './target.js';

export interface Contender {
  readonly target: Target;
  /** The requests to send; called for every slot. */
  plan(): Ask | Promise<Ask>;
}

/** A load without the target's port and headers, and without a duration. */
export type Ask = Omit<LoadPlan, 'port' | 'durationMs' | 'headers'>;

export interface Timing {
  readonly rounds: number;
  readonly slotMs: number;
  /** For each contender, before the first round. */
  readonly warmUpMs: number;
}

/** One contender's medians over its slots. */
export interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU of the server process; NaN where it cannot be read. */
  readonly cpuMsPerRequest: number;
}

/** Figures of each contender slot by slot, so that ratios can be taken within a round. */
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

  /** The ratio of one contender's figure to the other's, taken in each round; the median of these. */
  ratio(one: Name, other: Name, key: keyof Figures = 'perSecond'): number {
    return median(
      this.slots[one].map((slot, round) => slot[key] / (this.slots[other][round]?.[key] ?? Number.NaN)),
    );
  }
}

/**
 * Loads the contenders in turn, round after round. Each round starts with the next one (A B C, B C A), because
 * whoever always goes first would always inherit the same state of the database. Throws when a response is not a
 * success.
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
    for (const name of rotated(names, round)) slots[name].push(await slot(bench, contenders[name], slotMs));
  }
  return new Comparison(slots);
}

/** The names in the order of this round. */
export function rotated<Name>(names: readonly Name[], round: number): readonly Name[] {
  const first = round % names.length;
  return [...names.slice(first), ...names.slice(0, first)];
}

/** Loads one contender for `durationMs`. Throws when a response is not a success. */
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
