export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Pino's numbers: a higher one matters more. They are what the database keeps. */
export const LEVEL_RANKS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 } as const satisfies Record<
  LogLevel,
  number
>;

/** The word of a rank; a rank between two words takes the lower one. */
export function levelOfRank(rank: number): LogLevel {
  return LOG_LEVELS.findLast((level) => LEVEL_RANKS[level] <= rank) ?? 'trace';
}
