import { type LogFields, type Logger, Logs } from '../platform/logging/logger.js';
import { Redactor } from '../platform/logging/redactor.js';
import type { CommandContext } from './command-context.js';

const nothing = (): void => undefined;

/** Logs of short commands: warnings and errors only, as plain lines on standard error; standard output is the result. */
export class QuietLogs extends Logs {
  private readonly redactor = new Redactor();

  constructor(private readonly context: Pick<CommandContext, 'environment' | 'terminal'>) {
    super();
    this.redactor.setFor('environment', context.environment.secrets);
  }

  for(): Logger {
    const line = (level: string) => (message: string, fields?: LogFields) =>
      this.context.terminal.err(this.redactor.redact(`${level}: ${message}${fieldsInBrackets(fields)}\n`));
    return { trace: nothing, debug: nothing, info: nothing, warn: line('warning'), error: line('error') };
  }

  setLevel(): void {
    // A command keeps its level to the end.
  }

  copyTo(): void {
    // The lines of a command are not stored.
  }
}

function fieldsInBrackets(fields: LogFields = {}): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}: ${asText(value)}`);
  return pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
