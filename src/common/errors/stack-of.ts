/** What to log of whatever was thrown and nobody expected: with its stack, where it has one. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
