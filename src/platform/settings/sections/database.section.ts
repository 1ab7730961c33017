import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { integer, millis, postgresUrl } from './key-types.js';

/** Only the file and the environment set these: the overrides are read from the database they open. */
export const databaseSection = z
  .strictObject({
    url: postgresUrl()
      .default('')
      .register(keyMarks, { secret: true })
      .describe('URL of PostgreSQL 14 or later; empty uses DATABASE_URL, else the embedded server.'),
    data_dir: z
      .string()
      .max(4096)
      .default('')
      .describe('Folder of the embedded server and the key file; empty uses GATEWAY_DATA_DIR, else ./data.'),
    pool_size: integer(2, 500).default(10).describe('Most connections of one gateway process.'),
    prepared_statements: z
      .enum(['auto', 'always', 'never'])
      .default('auto')
      .describe(
        'Whether statements are prepared once per connection; auto prepares them except behind a pooler, always even there (pgbouncer from 1.21 with max_prepared_statements).',
      ),
    connect_timeout_ms: millis(5000, 600_000).describe(
      'Longest wait for a connection before a request is answered 503, in milliseconds.',
    ),
    statement_timeout_ms: millis(30_000, 600_000).describe('Longest single statement, in milliseconds.'),
  })
  .register(keyMarks, { fileOnly: true, restart: true });
