import type { LogLevel } from './log-level.js';

export type LogFields = Readonly<Record<string, unknown>>;

/** Writes log lines of one module, such as `agent::turn`. Fields are data besides the sentence, never headers or bodies. */
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

  /** The least level that is written from now on, by every logger handed out before or after. */
  abstract setLevel(level: LogLevel): void;

  /** Names the process that writes, in every line from now on; not all writers of lines care. */
  nameReplica?(id: string): void;

  /** Passes every line on to one more sink; the first sink also gets the newest earlier lines. */
  abstract copyTo(sink: LineSink): void;
}
