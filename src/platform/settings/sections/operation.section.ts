import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { addressRange, integer, millis, postgresUrl } from './key-types.js';

/** Only the file and the environment set these: the stored overrides are in the database that these keys open. */
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
  retention_days: integer(1, 3650)
    .default(7)
    .register(keyMarks, { security: true })
    .describe('Days that log lines are kept.'),
  retention_rows: integer(1000, 100_000_000)
    .default(500_000)
    .register(keyMarks, { security: true })
    .describe('Most log lines that are kept; the oldest are deleted first.'),
  max_streams: integer(1, 100_000).default(500).describe('Most open log streams of one gateway process.'),
  stream_stall_ms: integer(1000, 600_000)
    .default(30_000)
    .describe('How long a log stream stays open while its reader takes nothing, in milliseconds.'),
});

/** How the gateway protects itself. Keys that are not for the file alone need `security:write`. */
export const securitySection = z
  .strictObject({
    allow_private_networks: z
      .array(addressRange())
      .max(64)
      .default([])
      .register(keyMarks, { fileOnly: true })
      .describe(
        'Addresses or CIDRs outside the public internet that webhooks and other outbound calls may reach.',
      ),
    allow_loopback: z
      .enum(['auto', 'always', 'never'])
      .default('auto')
      .register(keyMarks, { fileOnly: true })
      .describe(
        'Whether outbound calls may reach this machine itself; auto allows it only with the embedded database.',
      ),
    audit_retention_days: integer(1, 36_500).default(365).describe('Days that audit entries are kept.'),
    sandbox: z
      .strictObject({
        backend: z
          .enum(['auto', 'bubblewrap', 'none'])
          .default('auto')
          .describe(
            'How stdio tool servers are sandboxed: auto uses bubblewrap, and where that does not work runs them without a sandbox (embedded database, loopback) or refuses them (otherwise); bubblewrap insists on it; none runs them without a sandbox.',
          ),
      })
      .register(keyMarks, { fileOnly: true, restart: true })
      .prefault({}),
  })
  .register(keyMarks, { security: true });

/** What spans contain; OpenTelemetry's own variables say where they go. */
export const tracingSection = z.strictObject({
  include_content: z
    .boolean()
    .default(false)
    .register(keyMarks, { security: true })
    .describe(
      'Put the texts of users, models and tools into spans, following the OpenTelemetry GenAI conventions: without known secrets, and shortened.',
    ),
});

export const outboundSection = z.strictObject({
  ca_file: z
    .string()
    .max(4096)
    .default('')
    .register(keyMarks, { fileOnly: true, restart: true })
    .describe(
      'PEM file of certificate authorities that outbound TLS trusts besides the public ones and those of NODE_EXTRA_CA_CERTS; empty for none.',
    ),
  proxy_hosts: z
    .array(z.string().min(1).max(255))
    .max(64)
    .default([])
    .register(keyMarks, { fileOnly: true })
    .describe(
      'Host names that the proxy of HTTPS_PROXY resolves instead of the gateway, so that their addresses are not checked; * stands for any characters.',
    ),
});

export const hooksSection = z.strictObject({
  include_content: z
    .boolean()
    .default(false)
    .register(keyMarks, { security: true })
    .describe('Put the text of messages into message.received and message.sent.'),
  timeout_ms: millis(15_000, 120_000).describe('Longest single delivery attempt, in milliseconds.'),
  in_flight_per_hook: integer(1, 256)
    .default(1)
    .describe(
      'First attempts to one hook at once; with 1 events arrive in order, with more they are only sent in order.',
    ),
  max_in_flight: integer(2, 16_384)
    .default(2048)
    .describe('Delivery attempts at once in one process; failing hooks take at most half of them.'),
  retention_hours: integer(1, 8760)
    .default(168)
    .describe('How long finished deliveries can be listed and replayed, in hours.'),
});
