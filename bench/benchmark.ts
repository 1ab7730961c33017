import type { Bench } from './harness/bench.js';

/** One line of the table. */
export interface Row {
  readonly path: string;
  readonly measured: string;
  /** What it is compared with, measured in the same run; empty where there is nothing. */
  readonly baseline: string;
  /** The figure that the goal is about. */
  readonly value: string;
  readonly goal: string;
  /** Undefined where the row informs and has no goal. */
  readonly met: boolean | undefined;
}

export interface Benchmark {
  /** What `npm run bench -- <name>` looks for. */
  readonly name: string;
  /** One that takes too long to be part of every run. */
  readonly onlyByName?: true;
  run(bench: Bench): Promise<readonly Row[]>;
}
