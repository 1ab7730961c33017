import { z } from 'zod';
import { keyMarks } from '../key-marks.js';
import { fileOnlyText, integer, millis, plainName } from './key-types.js';

const installed = z.strictObject({
  pin: z
    .string()
    .regex(/^([0-9a-f]{64})?$/, 'must be the SHA-256 in 64 small hexadecimal digits')
    .default('')
    .register(keyMarks, { fileOnly: true })
    .describe('SHA-256 of its plugin.toml, which in turn names that of its module; empty for none.'),
  config: z
    .record(z.string().min(1).max(256), z.string().max(4096))
    .default({})
    .register(keyMarks, { fileOnly: true, secret: true })
    .describe('Values it may read when its plugin.toml grants it config; they win over those written there.'),
});

/** Plugins run code, so only the file and the environment choose which plugins there are and what they may use. */
export const pluginsSection = z.strictObject({
  directory: fileOnlyText().describe('Folder with one folder for each plugin; empty for no plugins.'),
  integrity: z
    .enum(['none', 'hash', 'pin'])
    .default('hash')
    .register(keyMarks, { fileOnly: true })
    .describe(
      'hash: plugin.toml must name the SHA-256 of its module; pin: in addition, a pin here must name that of plugin.toml.',
    ),
  max_memory_mb: integer(1, 4096)
    .default(64)
    .register(keyMarks, { fileOnly: true })
    .describe('Most memory that a plugin may be given, in MiB; one that asks for more is not loaded.'),
  max_call_ms: millis(5000, 600_000)
    .register(keyMarks, { fileOnly: true })
    .describe('Most time that one call of a plugin may be given, in milliseconds; a longer call is stopped.'),
  load_timeout_ms: millis(10_000, 600_000)
    .register(keyMarks, { fileOnly: true })
    .describe('Longest time for compiling, starting and describing a plugin, in milliseconds.'),
  installed: z.record(plainName(32), installed).default({}).describe('Settings of single plugins, by name.'),
});

export type PluginsSettings = z.output<typeof pluginsSection>;
