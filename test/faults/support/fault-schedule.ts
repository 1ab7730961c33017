import { oneOf, randomFrom } from './chance.js';

/** What is done to a process, and what is done to a way. */
const TO_PROCESSES = ['kill', 'terminate', 'restart'] as const;
const TO_WAYS = ['cut', 'freeze', 'slow', 'reset', 'half-cut'] as const;
type ToWay = (typeof TO_WAYS)[number];
export type FaultKind = (typeof TO_PROCESSES)[number] | ToWay;

export interface Fault {
  /** From the beginning of the load. */
  readonly atMs: number;
  readonly kind: FaultKind;
  readonly target: string;
  /** How long it lasts; processes come back as soon as they can. */
  readonly forMs: number;
}

/** What there is to be harmed, by name. */
export interface Targets {
  /** Killed without a word, or told to stop. */
  readonly gateways: readonly string[];
  /** Stopped at once, without a word to its clients. */
  readonly databases: readonly string[];
  readonly ways: readonly string[];
}

export interface Pace {
  readonly faults: number;
  readonly leastGapMs: number;
  readonly maxGapMs: number;
  readonly maxMs: number;
}

/**
 * The faults of a run, wholly determined by the seed. They are drawn in rounds, each with every kind once and the
 * processes' kinds first, so that a short run is not of one kind alone.
 */
export function drawSchedule(seed: number, targets: Targets, pace: Pace): Fault[] {
  const random = randomFrom(seed);
  const faults: Fault[] = [];
  let atMs = 0;
  while (faults.length < pace.faults) {
    for (const kind of roundOf(random)) {
      if (faults.length === pace.faults) break;
      atMs += Math.round(pace.leastGapMs + random() * (pace.maxGapMs - pace.leastGapMs));
      const target = oneOf(random, targetsOf(kind, targets));
      const forMs = Math.round(isToWay(kind) ? 200 + random() * (pace.maxMs - 200) : 0);
      faults.push({ atMs, kind, target, forMs });
    }
  }
  return faults;
}

export function describe(fault: Fault): string {
  const lasting = fault.forMs > 0 ? ` for ${fault.forMs} ms` : '';
  return `${String(fault.atMs).padStart(6)} ms  ${fault.kind} ${fault.target}${lasting}`;
}

export function isToWay(kind: FaultKind): kind is ToWay {
  return (TO_WAYS as readonly string[]).includes(kind);
}

function targetsOf(kind: FaultKind, targets: Targets): readonly string[] {
  if (kind === 'restart') return targets.databases;
  return isToWay(kind) ? targets.ways : targets.gateways;
}

function roundOf(random: () => number): FaultKind[] {
  return [...shuffled(random, TO_PROCESSES), ...shuffled(random, TO_WAYS)];
}

function shuffled<Item>(random: () => number, items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
