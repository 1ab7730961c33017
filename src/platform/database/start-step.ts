import { sentenceOf } from '../../common/errors/error-text.js';
import type { Logger } from '../logging/logger.js';
import { DatabaseAway, databaseFailure, isMendedByWaiting } from './database-failure.js';
import { throughOutage } from './through-outage.js';

/** How long one step of a start waits for a database that went away after it had answered. */
const OUTAGE_MS = 30_000;

export interface StartStep {
  /** What the step does, for the log: "run migrations". */
  readonly what: string;
  readonly logger: Logger;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Takes a step of a start that is safe to repeat. While the database is away, or has no connection to spare, it is
 * repeated for 30 seconds, and the log says that the start waits. Throws the last failure after that, every other one
 * at once, and the signal's reason when that is aborted.
 */
export async function startStep<Result>(
  { what, logger, signal }: StartStep,
  take: () => Promise<Result>,
): Promise<Result> {
  const said = { isWaiting: false };
  const sayThatItWaits = ({ cause }: DatabaseAway): void => {
    if (!said.isWaiting)
      logger.warn('the start waits for the database', {
        ...{ step: what, at_most_ms: OUTAGE_MS, reason: sentenceOf(cause) },
      });
    said.isWaiting = true;
  };
  const attempt = async (): Promise<Result> => {
    signal?.throwIfAborted();
    try {
      return await take();
    } catch (error) {
      const failure = databaseFailure(error);
      if (failure instanceof DatabaseAway && isMendedByWaiting(failure)) sayThatItWaits(failure);
      throw failure;
    }
  };
  const isFinal = (failure: DatabaseAway) => !isMendedByWaiting(failure);
  const result = await throughOutage(attempt, { limitMs: OUTAGE_MS, signal, isFinal });
  if (said.isWaiting) logger.info('the database is back: the start goes on', { step: what });
  return result;
}
