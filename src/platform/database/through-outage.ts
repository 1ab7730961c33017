import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseAway } from './database-failure.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1000;

export interface OutageTerms {
  /** Milliseconds from the first failure on. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether this failure ends it: the attempt may have taken effect, and must not be repeated. */
  readonly isFinal?: (error: DatabaseAway) => boolean;
}

/**
 * Repeats `work` while the database is away. A failed attempt may have taken effect, so it must be safe to repeat, unless
 * `isFinal` says of which failures it is not.
 * Throws every other failure at once, the last failure after `limitMs`, and the signal's reason when that is aborted.
 */
export async function throughOutage<Result>(
  work: () => Promise<Result>,
  { limitMs, signal, isFinal = () => false }: OutageTerms,
): Promise<Result> {
  let firstFailure: number | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      firstFailure ??= performance.now();
      const isAway = error instanceof DatabaseAway && !isFinal(error);
      if (!isAway || performance.now() + pauseMs - firstFailure > limitMs) throw error;
    }
    await sleep(pauseMs, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
  }
}
