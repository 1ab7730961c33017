import { type LogFields, type Logger, Logs } from '../platform/logging/logger.js';
import { Redactor } from '../platform/logging/redactor.js';
import type { CommandContext } from './command-context.js';

const nothing = (): void => undefined;

/** For commands whose standard output is their result: only warnings and errors, as plain lines on standard error. */
export class QuietLogs extends Logs {
  private readonly redactor = new Redactor();

  constructor(private readonly context: Pick<CommandContext, 'environment' | 'terminal'>) {
    super();
    this.redactor.setFor('environment', context.environment.secrets);
  }

  for(): Logger {
    const line = (word: string) => (message: string, fields?: LogFields) =>
      this.context.terminal.err(this.redactor.redact(`${word}: ${message}${sentenceOf(fields)}\n`));
    return { trace: nothing, debug: nothing, info: nothing, warn: line('warning'), error: line('error') };
  }

  setLevel(): void {
    // A command does not become chattier while it runs.
  }

  copyTo(): void {
    // Nobody keeps what a command said.
  }
}

function sentenceOf(fields: LogFields = {}): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}: ${asText(value)}`);
  return pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
