import { oneOf, randomFrom } from './chance.js';

/** Faults of processes, and faults of connections. */
const PROCESS_FAULTS = ['kill', 'terminate', 'restart'] as const;
const CONNECTION_FAULTS = ['cut', 'freeze', 'slow', 'reset', 'half-cut'] as const;
type ConnectionFault = (typeof CONNECTION_FAULTS)[number];
export type FaultKind = (typeof PROCESS_FAULTS)[number] | ConnectionFault;

export interface Fault {
  /** From the beginning of the load. */
  readonly atMs: number;
  readonly kind: FaultKind;
  readonly target: string;
  /** How long it lasts. Processes come back as soon as they can. */
  readonly forMs: number;
}

/** The possible targets, by name. */
export interface Targets {
  /** Killed, or told to stop. */
  readonly gateways: readonly string[];
  /** Stopped at once, without notice to their clients. */
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
 * The faults of a run, fully determined by the seed. They are drawn in rounds. Each round has every kind once and
 * begins with the processes' kinds, so that a short run has several kinds.
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
      const forMs = Math.round(isConnectionFault(kind) ? 200 + random() * (pace.maxMs - 200) : 0);
      faults.push({ atMs, kind, target, forMs });
    }
  }
  return faults;
}

export function describe(fault: Fault): string {
  const lasting = fault.forMs > 0 ? ` for ${fault.forMs} ms` : '';
  return `${String(fault.atMs).padStart(6)} ms  ${fault.kind} ${fault.target}${lasting}`;
}

export function isConnectionFault(kind: FaultKind): kind is ConnectionFault {
  return (CONNECTION_FAULTS as readonly string[]).includes(kind);
}

function targetsOf(kind: FaultKind, targets: Targets): readonly string[] {
  if (kind === 'restart') return targets.databases;
  return isConnectionFault(kind) ? targets.ways : targets.gateways;
}

function roundOf(random: () => number): FaultKind[] {
  return [...shuffled(random, PROCESS_FAULTS), ...shuffled(random, CONNECTION_FAULTS)];
}

function shuffled<Item>(random: () => number, items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
