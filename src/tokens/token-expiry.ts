const DAY_MS = 86_400_000;

/** Tokens live for 90 days unless somebody says otherwise (decisions, section 7). */
export function defaultExpiry(now = new Date()): Date {
  return new Date(now.getTime() + 90 * DAY_MS);
}
