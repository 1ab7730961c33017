import { parse } from 'smol-toml';
import { z } from 'zod';
import { sentenceOf } from '../../common/errors/error-text.js';
import { PluginProblem } from './plugin.js';

const PLUGIN_NAME = /^(?=.{1,32}$)[a-z0-9]+([_-][a-z0-9]+)*$/;

const MAX_PROBLEMS = 5;
const host = z
  .string()
  .max(253)
  .regex(
    /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/,
    'must be a host such as api.example.com, *.example.com or api.example.com:8443',
  );

const manifest = z.strictObject({
  name: z.string().regex(PLUGIN_NAME, 'must be small letters and digits with single - or _ between them'),
  version: z.string().regex(/^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]{1,64})?$/, 'must be a version such as 1.0.0'),
  description: z.string().max(1024).default(''),
  type: z.literal('tool'),
  wasm: z.string().min(1).max(255),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be 64 small hexadecimal digits')
    .optional(),
  capabilities: z
    .array(z.string().regex(/^tool:[a-zA-Z0-9_-]{1,64}$/, 'must read tool:name'))
    .min(1)
    .max(64),
  permissions: z
    .strictObject({
      config: z.boolean().default(false),
      kv: z.boolean().default(false),
      log: z.boolean().default(false),
      net: z.strictObject({ http: z.array(host).max(64).default([]) }).prefault({}),
    })
    .prefault({}),
  limits: z
    .strictObject({ memory_mb: z.int().min(1).optional(), call_timeout_ms: z.int().min(1).optional() })
    .prefault({}),
  config: z.record(z.string().min(1).max(256), z.string().max(4096)).default({}),
});

/** A validated `plugin.toml`: what a plugin is, and what it asks for. */
export type PluginManifest = z.output<typeof manifest>;

/** Throws a `PluginProblem` that names the wrong keys, at most five. */
export function parseManifest(text: string): PluginManifest {
  const result = manifest.safeParse(tableOf(text));
  if (result.success) return result.data;
  const problems = result.error.issues.slice(0, MAX_PROBLEMS).map(({ path, message }) => {
    const key = path.map(String).join('.').slice(0, 64);
    return key === '' ? message : `${key}: ${message}`;
  });
  throw new PluginProblem(`plugin.toml is wrong: ${problems.join('; ')}`);
}

function tableOf(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const [first = ''] = sentenceOf(error).split('\n');
    throw new PluginProblem(`plugin.toml is not TOML: ${first.slice(0, 200)}`);
  }
}
