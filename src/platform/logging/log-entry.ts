import type { LogLevel } from './logger.js';

/** A log line as it is kept and shown (docs/specification/api.md, 2.10). */
export interface LogEntry {
  /** Counts the lines of all replicas in the order in which they were stored, without holes. */
  readonly id: number;
  readonly timestamp: Date;
  readonly level: LogLevel;
  readonly module: string;
  /** The sentence, followed by its fields as `key=value`; always one line. */
  readonly message: string;
  readonly sessionId: string | undefined;
}

export interface LogFilter {
  readonly minLevel: LogLevel;
  /** Whole segments from the start: `channel` covers `channel::telegram`. All modules when left out. */
  readonly module?: string | undefined;
}

export interface LogPage {
  /** Oldest first. */
  readonly entries: readonly LogEntry[];
  /** Counts the filter, not the page. */
  readonly total: number;
}
