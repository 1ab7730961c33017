import type { Bench } from './harness/bench.js';

/** One row of the table. */
export interface Row {
  readonly path: string;
  readonly measured: string;
  /** What it is compared with, measured in the same run; empty without a comparison. */
  readonly baseline: string;
  /** The figure that the goal applies to. */
  readonly value: string;
  readonly goal: string;
  /** Undefined for a row without a goal. */
  readonly met: boolean | undefined;
}

export interface Benchmark {
  /** The name to select it by: `npm run bench -- <name>`. */
  readonly name: string;
  /** Takes too long to be part of every run. */
  readonly onlyByName?: true;
  run(bench: Bench): Promise<readonly Row[]>;
}
