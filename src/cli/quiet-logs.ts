import { type LogFields, type Logger, Logs } from '../logs/logger.js';
import type { Terminal } from './terminal.js';

const nothing = (): void => undefined;

/** For commands whose standard output is their result: only warnings and errors, as plain lines on standard error. */
export class QuietLogs extends Logs {
  constructor(private readonly terminal: Pick<Terminal, 'err'>) {
    super();
  }

  for(): Logger {
    const line = (word: string) => (message: string, fields?: LogFields) =>
      this.terminal.err(`${word}: ${message}${inWords(fields)}\n`);
    return { trace: nothing, debug: nothing, info: nothing, warn: line('warning'), error: line('error') };
  }

  setLevel(): void {
    // A command does not become chattier while it runs.
  }

  copyTo(): void {
    // Nobody keeps what a command said.
  }
}

function inWords(fields: LogFields = {}): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}: ${asText(value)}`);
  return pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
