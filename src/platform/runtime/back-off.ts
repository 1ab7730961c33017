const MAX_MS = 60_000;

/**
 * Full jitter: a random time up to a limit. The limit starts at `firstMs`, doubles with every failure in a row, and
 * stops at a minute.
 */
export function backOffMs(failures: number, firstMs: number, random: () => number = Math.random): number {
  return random() * Math.min(MAX_MS, firstMs * 2 ** Math.min(failures, 16));
}
