/**
 * The message of anything thrown, for people. Node reports a connection that failed at several addresses as an error
 * without words that holds one for each: the first speaks for it.
 */
export function sentenceOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return sentenceOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

/** What to log of anything unexpected that was thrown: its stack, if it has one. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
