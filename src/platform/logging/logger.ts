export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A higher level matters more. The database stores these numbers. */
export const LEVEL_RANKS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 } as const satisfies Record<
  LogLevel,
  number
>;

/** The name of a rank; a rank between two names gets the lower one. */
export function levelOfRank(rank: number): LogLevel {
  return LOG_LEVELS.findLast((level) => LEVEL_RANKS[level] <= rank) ?? 'trace';
}

export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Writes log lines of one module, such as `agent::turn`. Fields hold data besides the sentence, never headers or
 * bodies.
 */
export interface Logger {
  trace(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Takes finished lines: JSON without its line feed, redacted, with the rank of its level. Returns at once. */
export type LineSink = (line: string, rank: number) => void;

/** Hands out one logger per module; module names are `area::part`. */
export abstract class Logs {
  abstract for(module: string): Logger;

  /** The lowest level that is written from now on, by all loggers, however early they were made. */
  abstract setLevel(level: LogLevel): void;

  /** Adds the id of this process to every line from now on; optional. */
  nameReplica?(id: string): void;

  /** Passes every line on to one more sink; the first sink also gets the newest earlier lines. */
  abstract copyTo(sink: LineSink): void;
}

const nothing = (): void => undefined;
const silentLogger: Logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

class SilentLogs extends Logs {
  for(): Logger {
    return silentLogger;
  }

  setLevel(): void {
    // There is nothing to be more or less silent about.
  }

  copyTo(): void {
    // No line is ever written.
  }
}

/** For commands whose result goes to standard output. */
export const silentLogs: Logs = new SilentLogs();
