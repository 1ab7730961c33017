import { format } from 'node:util';
import type { Logger, Logs } from './logger.js';

/** Warnings and errors keep their level; everything else is for developers. */
const LEVELS = { debug: 'debug', log: 'debug', info: 'debug', warn: 'warn', error: 'error' } as const;

/**
 * What libraries say on the console becomes log lines of the module `library`, without secrets: some repeat what a server answered.
 * For the whole process, until it ends.
 */
export function logConsole(
  logs: Logs,
  console: Pick<Console, keyof typeof LEVELS> = globalThis.console,
): void {
  const logger: Logger = logs.for('library');
  for (const [method, level] of Object.entries(LEVELS) as [keyof typeof LEVELS, keyof Logger][])
    console[method] = (...said: unknown[]) => logger[level](format(...said));
}
