import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseAway } from './database-failure.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1000;

export interface OutageTerms {
  /** Milliseconds from the first failure on. */
  readonly limitMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Repeats `work` while the database is away. A failed attempt may have taken effect, so it must be safe to repeat.
 * Throws every other failure at once, the last failure after `limitMs`, and the signal's reason when that is aborted.
 */
export async function throughOutage<Result>(
  work: () => Promise<Result>,
  { limitMs, signal }: OutageTerms,
): Promise<Result> {
  let firstFailure: number | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      firstFailure ??= performance.now();
      if (!(error instanceof DatabaseAway) || performance.now() + pauseMs - firstFailure > limitMs)
        throw error;
    }
    await sleep(pauseMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
  }
}
