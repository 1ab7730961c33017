import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { addressRange, httpUrl, integer, millis, port, webOrigin } from './key-types.js';

/** What can be served besides the profiles. */
export const FACES = ['admin', 'openai', 'mcp', 'a2a', 'console'] as const;

export const gatewaySection = z.strictObject({
  host: z
    .string()
    .min(1)
    .max(255)
    .default('127.0.0.1')
    .register(keyMarks, { restart: true, perReplica: true })
    .describe('Address that the listeners bind to; 0.0.0.0 in a container.'),
  port: port(3120).describe('Port of Profile B; 0 picks a free one.'),
  profile_a_port: port(16_830).describe('Port of Profile A; 0 picks a free one.'),
  management_port: port(9464).describe(
    'Port of the probes and of /metrics without a token; 0 picks a free one.',
  ),
  management_host: z
    .string()
    .max(255)
    .default('')
    .register(keyMarks, { restart: true, perReplica: true })
    .describe('Address that the operations port binds to; empty uses gateway.host.'),
  public_url: httpUrl()
    .default('')
    .register(keyMarks, { fileOnly: true })
    .describe(
      'URL under which others reach this gateway, without a / at the end. It is the iss of what the gateway signs; when it is empty, the iss is "agent-gateway".',
    ),
  profiles: z
    .array(z.enum(['a', 'b']))
    .min(1)
    .max(2)
    .refine((profiles) => new Set(profiles).size === profiles.length, 'must name each profile once')
    .default(['a', 'b'])
    .register(keyMarks, { restart: true })
    .describe('The profiles that are served.'),
  faces: z
    .array(z.enum(FACES))
    .max(FACES.length)
    .refine((faces) => new Set(faces).size === faces.length, 'must name each face once')
    .default([...FACES])
    .register(keyMarks, { restart: true, security: true })
    .describe(
      "What is served besides the profiles, on the ports of both: admin is the operators' API at /admin/v1, openai the API of OpenAI at /v1, mcp the gateway as a tool server at /mcp, a2a the gateway as an agent at /a2a, console the pages for browsers at /console.",
    ),
  docs: z
    .boolean()
    .default(true)
    .register(keyMarks, { restart: true, security: true })
    .describe('Serve /openapi.json, /asyncapi.json and the Swagger UI at /docs, without a token.'),
  metrics_public: z
    .boolean()
    .default(false)
    .register(keyMarks, { security: true })
    .describe('Let /api/v1/metrics of Profile A answer without a token.'),
  cors_origins: z
    .array(webOrigin())
    .max(64)
    .default([])
    .register(keyMarks, { security: true })
    .describe(
      'Origins of web pages, such as https://chat.example.com, whose scripts may call the API; empty allows none.',
    ),
  trusted_proxies: z
    .array(addressRange())
    .max(64)
    .default([])
    .register(keyMarks, { security: true })
    .describe('Addresses or CIDRs of proxies whose X-Forwarded-For is trusted to name the caller.'),
  max_body_bytes: integer(1024, 67_108_864)
    .default(1_048_576)
    .describe('Largest request body, in bytes, outside messages.'),
  max_message_body_bytes: integer(1024, 134_217_728)
    .default(29_360_128)
    .describe('Largest body of POST /sessions/:id/messages, in bytes.'),
  drain_timeout_ms: millis(30_000).describe(
    'How long a stop waits for running turns before it interrupts them, in milliseconds.',
  ),
  drain_grace_ms: integer(0, 60_000)
    .default(0)
    .describe(
      'How long requests are still answered after SIGTERM, already not ready, so that load balancers notice, in milliseconds; unless set it is 5000 with a database of your own.',
    ),
});

export const streamingSection = z.strictObject({
  max_viewers: integer(1, 100_000)
    .default(1000)
    .describe('Most event streams and WebSockets of sessions that are open in one gateway process.'),
  stall_ms: integer(500, 600_000)
    .default(30_000)
    .describe('How long a viewer that reads nothing stays connected, in milliseconds.'),
  ping_interval_ms: millis(15_000).describe(
    'How often a quiet viewer is pinged, in milliseconds; a WebSocket that does not answer is closed.',
  ),
});
