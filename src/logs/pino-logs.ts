import { type Logger as PinoLogger, pino } from 'pino';
import { type Logger, Logs } from './logger.js';
import type { Redactor } from './redactor.js';

export interface PinoLogsOptions {
  readonly level: string;
  readonly redactor: Redactor;
  /** Where the lines go; each ends with a line feed. */
  readonly write: (line: string) => void;
}

/** JSON lines with time, level and module. Secrets are taken out of the finished line, whatever key they stand under. */
export class PinoLogs extends Logs {
  private readonly root: PinoLogger;

  constructor({ level, redactor, write }: PinoLogsOptions) {
    super();
    this.root = pino(
      {
        level,
        base: null,
        timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
        formatters: { level: (label) => ({ level: label }) },
        messageKey: 'message',
      },
      { write: (line: string) => write(redactor.redact(line)) },
    );
  }

  for(module: string): Logger {
    const child = this.root.child({ module });
    return {
      trace: (message, fields) => child.trace(fields ?? {}, message),
      debug: (message, fields) => child.debug(fields ?? {}, message),
      info: (message, fields) => child.info(fields ?? {}, message),
      warn: (message, fields) => child.warn(fields ?? {}, message),
      error: (message, fields) => child.error(fields ?? {}, message),
    };
  }

  setLevel(level: string): void {
    this.root.level = level;
  }
}
