import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { integer } from './key-types.js';

const level = () => z.enum(['trace', 'debug', 'info', 'warn', 'error']);

export const loggingSection = z.strictObject({
  level: level().default('info').describe('Lowest level that is written.'),
  format: z
    .enum(['auto', 'json', 'pretty'])
    .default('auto')
    .register(keyMarks, { restart: true })
    .describe('auto is pretty on a terminal and JSON lines otherwise.'),
  requests: z
    .enum(['none', 'errors', 'all'])
    .default('errors')
    .describe(
      'Which requests get a line of their own: all at info, or only errors (4xx at debug, 5xx at error). Refused logins, scopes and rates are always summed up at warn.',
    ),
  store_level: level()
    .default('trace')
    .describe('Lowest level of the written lines that are stored for GET /logs; trace stores all of them.'),
  retention_days: integer(1, 3650).default(7).describe('Days that log lines are kept.'),
  retention_rows: integer(1000, 100_000_000)
    .default(500_000)
    .describe('Most log lines that are kept; the oldest are deleted first.'),
  max_streams: integer(1, 100_000).default(500).describe('Most open log streams of one gateway process.'),
  stream_stall_ms: integer(1000, 600_000)
    .default(30_000)
    .describe('How long a log stream stays open while its reader takes nothing, in milliseconds.'),
});
