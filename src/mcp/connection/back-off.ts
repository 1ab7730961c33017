const FIRST_MS = 500;
const LONGEST_MS = 60_000;

/** Full jitter: anything from nothing to a limit that doubles with every failure in a row, at most a minute. */
export function backOffMs(failures: number, random: () => number = Math.random): number {
  return random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
}
