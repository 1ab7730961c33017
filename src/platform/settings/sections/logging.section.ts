import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { integer } from './key-types.js';

const level = () => z.enum(['trace', 'debug', 'info', 'warn', 'error']);

export const loggingSection = z.strictObject({
  level: level().default('info').describe('Least level that is written.'),
  format: z
    .enum(['auto', 'json', 'pretty'])
    .default('auto')
    .register(keyMarks, { restart: true })
    .describe('auto is pretty on a terminal and JSON lines otherwise.'),
  requests: z
    .enum(['none', 'errors', 'all'])
    .default('errors')
    .describe(
      'Which requests get a line of their own: all at info, or errors alone (4xx at debug, 5xx at error). Refused logins, scopes and rates are summed at warn in any case.',
    ),
  store_level: level()
    .default('trace')
    .describe('Least level that is kept for GET /logs, of what is written; trace keeps all of it.'),
  retention_days: integer(1, 3650).default(7).describe('Days for which log lines are kept.'),
  retention_rows: integer(1000, 100_000_000)
    .default(500_000)
    .describe('Most log lines that are kept; the oldest go first.'),
  max_streams: integer(1, 100_000).default(500).describe('Most open log streams of one gateway process.'),
  stream_stall_ms: integer(1000, 600_000)
    .default(30_000)
    .describe('How long a log stream whose reader takes nothing stays open, in milliseconds.'),
});
