/** What to log of anything unexpected that was thrown: its stack, if it has one. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
