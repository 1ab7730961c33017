import { z } from 'zod';

/** Marks of a key beside its type, default, bounds and sentence (`docs/decisions`, configuration). */
interface KeyMarks {
  /** Replaced by the redaction marker wherever it is shown. */
  readonly secret?: true;
  /** Chooses an executable or opens a door: only the file and the environment may set it. */
  readonly fileOnly?: true;
  /** Takes effect at the next start. */
  readonly restart?: true;
}

export const keyMarks = z.registry<KeyMarks>();

const integer = (min: number, max: number) => z.int().min(min).max(max);
const port = (fallback: number) => integer(0, 65_535).default(fallback).register(keyMarks, { restart: true });
const millis = (fallback: number, max = 3_600_000) => integer(1, max).default(fallback);
const perSecond = (fallback: number) => integer(1, 1_000_000).default(fallback);

const gateway = z.strictObject({
  host: z.string().min(1).max(255).default('127.0.0.1').register(keyMarks, { restart: true })
    .describe('Address that all three listeners bind to; 0.0.0.0 in a container.'),
  port: port(3120).describe('Port of Profile B; 0 picks a free one.'),
  profile_a_port: port(16_830).describe('Port of Profile A; 0 picks a free one.'),
  management_port: port(9464).describe('Port of the probes and of the open /metrics; 0 picks a free one.'),
  profiles: z.array(z.enum(['a', 'b'])).min(1).max(2).default(['a', 'b']).register(keyMarks, { restart: true })
    .describe('The profiles that are served.'),
  docs: z.boolean().default(true).register(keyMarks, { restart: true })
    .describe('Serve /openapi.json and the Swagger UI at /docs, without a token.'),
  metrics_public: z.boolean().default(false)
    .describe('Let /api/v1/metrics of Profile A answer without a token.'),
  trusted_proxies: z.array(z.string().max(64)).max(64).default([])
    .describe('CIDRs whose X-Forwarded-For names the caller.'),
  max_body_bytes: integer(1024, 67_108_864).default(1_048_576)
    .describe('Largest request body, in bytes, outside messages.'),
  max_message_body_bytes: integer(1024, 134_217_728).default(29_360_128)
    .describe('Largest body of POST /sessions/:id/messages, in bytes.'),
  drain_timeout_ms: millis(30_000).describe('How long a stop waits for running turns before it interrupts them.'),
  drain_grace_ms: integer(0, 60_000).default(0)
    .describe('How long a stop keeps accepting requests, already not ready, so that balancers notice.'),
});

const agent = z.strictObject({
  system_prompt: z.string().max(65_536).default('You are a helpful assistant.')
    .describe('The system prompt of a session that brings none.'),
  max_turns: integer(1, 1000).default(50).describe('Model and tool rounds per message.'),
  max_tool_calls_per_turn: integer(0, 1000).default(10)
    .describe('Tool calls per message; those past it get an error result and the model is asked once more without tools.'),
  max_output_tokens: integer(1, 1_000_000).default(4096).describe('Most tokens of one model answer.'),
  session_idle_secs: integer(1, 31_536_000).default(300).describe('Silence after which a session is idle.'),
  session_timeout_secs: integer(1, 31_536_000).default(3600).describe('Silence after which a session has ended.'),
  on_busy: z.enum(['queue', 'reject']).default('queue')
    .describe('What a message to a session with a running turn does: wait in order, or be refused.'),
  max_waiting: integer(0, 10_000).default(8).describe('Most messages waiting for one session.'),
  max_wait_ms: millis(30_000).describe('Longest wait for a busy session.'),
  first_byte_timeout_ms: millis(60_000).describe('Longest silence before a model answer begins.'),
  idle_timeout_ms: millis(60_000).describe('Longest silence within a model answer.'),
  tool_timeout_ms: millis(60_000).describe('Longest single tool call.'),
  turn_timeout_ms: millis(900_000, 86_400_000).describe('Longest whole turn.'),
  history_max_messages: integer(2, 10_000).default(200).describe('Most earlier messages given to the model.'),
});

const provider = z.strictObject({
  kind: z.enum(['auto', 'anthropic', 'openai', 'offline']).default('auto')
    .describe('auto takes ANTHROPIC_API_KEY, then OPENAI_API_KEY, then offline.'),
  model: z.string().max(256).default('').describe('The default model; empty takes the default of the kind.'),
  api_key: z.string().max(4096).default('').register(keyMarks, { secret: true })
    .describe('Key of the provider; empty takes ANTHROPIC_API_KEY or OPENAI_API_KEY.'),
  base_url: z.string().max(2048).default('').register(keyMarks, { fileOnly: true })
    .describe('Another server that speaks the same wire (vLLM, Ollama, a proxy); empty takes the official one.'),
  max_retries: integer(0, 10).default(2).describe('Further attempts at a call of which nothing arrived.'),
});

const memory = z.strictObject({
  backend: z.enum(['none']).default('none').describe('Where memories are kept.'),
  top_k: integer(0, 100).default(5).describe('Memories recalled before a turn.'),
});

const rateLimits = z.strictObject({
  sessions_write: perSecond(10).describe('Writes to sessions and messages per second and token.'),
  sessions_read: perSecond(50).describe('Reads of sessions and messages per second and token.'),
  config_write: perSecond(5).describe('Writes to the configuration per second and token.'),
  other: perSecond(30).describe('All other requests per second and token.'),
});

const logging = z.strictObject({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info').describe('Least level that is written.'),
  format: z.enum(['auto', 'json', 'pretty']).default('auto').register(keyMarks, { restart: true })
    .describe('auto is pretty on a terminal and JSON lines otherwise.'),
});

const database = z.strictObject({
  url: z.string().max(4096).default('').register(keyMarks, { secret: true, fileOnly: true, restart: true })
    .describe('PostgreSQL 14 or later; empty takes DATABASE_URL, else the embedded server.'),
  data_dir: z.string().max(4096).default('').register(keyMarks, { fileOnly: true, restart: true })
    .describe('Folder of the embedded server and the key file; empty takes GATEWAY_DATA_DIR, else ./data.'),
  pool_size: integer(2, 500).default(10).register(keyMarks, { fileOnly: true, restart: true })
    .describe('Most connections of one gateway process.'),
  connect_timeout_ms: millis(5000, 600_000).register(keyMarks, { fileOnly: true, restart: true })
    .describe('Longest wait for a connection before a request is answered 503.'),
  statement_timeout_ms: millis(30_000, 600_000).register(keyMarks, { fileOnly: true, restart: true })
    .describe('Longest single statement.'),
});

const multimodal = z.strictObject({
  allow_remote_fetch: z.boolean().default(false)
    .describe('Fetch attachments that are given as a URL, through the outbound guard.'),
});

/** Everything that can be set. Keys are as in the file; `docs/decisions` says how the layers meet. */
export const settingsSchema = z.strictObject({
  gateway: gateway.prefault({}),
  agent: agent.prefault({}),
  provider: provider.prefault({}),
  memory: memory.prefault({}),
  rate_limits: rateLimits.prefault({}),
  logging: logging.prefault({}),
  database: database.prefault({}),
  multimodal: multimodal.prefault({}),
});

export type GatewaySettings = z.output<typeof settingsSchema>;
