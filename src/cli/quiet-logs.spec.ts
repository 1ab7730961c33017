import type { Logs } from '../platform/logging/logger.js';
import { readEnvironment } from '../platform/settings/environment.js';
import { QuietLogs } from './quiet-logs.js';

test('only warnings and errors are written, as plain lines without secrets, to standard error', () => {
  const err: string[] = [];
  const logs: Logs = new QuietLogs({
    environment: readEnvironment({ OPENAI_API_KEY: 'a-very-secret-key' }),
    terminal: { out: (text) => void err.push(`out: ${text}`), err: (text) => void err.push(text) },
  });
  const logger = logs.for('database');
  logger.debug('not said');
  logger.info('not said either');
  logger.warn('it is slow', { reason: 'a-very-secret-key was refused', ms: 5 });
  logger.error('it is gone');
  expect(err).toEqual([
    'warning: it is slow (reason: ***REDACTED*** was refused, ms: 5)\n',
    'error: it is gone\n',
  ]);
});
