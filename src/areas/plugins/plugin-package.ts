import { createHash } from 'node:crypto';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { sentenceOf } from '../../common/errors/error-text.js';
import { isBelow, readContained } from '../../platform/files/contained-file.js';
import type { PluginsSettings } from '../../platform/settings/sections/plugins.section.js';
import { limitModule } from './limit-module.js';
import { PluginProblem } from './plugin.js';

const MAX_MANIFEST_BYTES = 65_536;
const MAX_MODULE_BYTES = 16_777_216;
const BYTES_PER_MB = 1_048_576;

/** A checked plugin from disk, with its limits resolved: everything that a thread needs to run it. */
export interface PluginPackage {
  readonly folder: string;
  readonly manifest: PluginManifest;
  /** The WebAssembly module, rewritten with a memory limit. */
  readonly module: Uint8Array<ArrayBuffer>;
  readonly memoryBytes: number;
  readonly callTimeoutMs: number;
  readonly loadTimeoutMs: number;
  /** Its configuration; empty without `permissions.config`. */
  readonly config: Readonly<Record<string, string>>;
}

/** Reads and checks `<plugins.directory>/<name>`. Throws `PluginProblem` and `FileProblem`. */
export async function readPackage(name: string, settings: PluginsSettings): Promise<PluginPackage> {
  const folder = await folderOf(name, settings.directory);
  const toml = await readContained(folder, 'plugin.toml', MAX_MANIFEST_BYTES);
  checkPin(name, toml, settings);
  const manifest = parseManifest(toml.toString('utf8'));
  if (manifest.name !== name)
    throw new PluginProblem('name in plugin.toml differs from the name of its folder');
  const memoryMb = manifest.limits.memory_mb ?? settings.max_memory_mb;
  const callTimeoutMs = manifest.limits.call_timeout_ms ?? settings.max_call_ms;
  checkLimit('memory_mb', memoryMb, settings.max_memory_mb);
  checkLimit('call_timeout_ms', callTimeoutMs, settings.max_call_ms);
  const wasm = await readContained(folder, manifest.wasm, MAX_MODULE_BYTES);
  checkHash(wasm, manifest, settings);
  const memoryBytes = memoryMb * BYTES_PER_MB;
  return {
    ...{ folder, manifest, memoryBytes, callTimeoutMs },
    module: limitModule(wasm, memoryBytes),
    loadTimeoutMs: settings.load_timeout_ms,
    config: manifest.permissions.config ? configOf(name, manifest, settings) : {},
  };
}

async function folderOf(name: string, directory: string): Promise<string> {
  const [parent, folder] = await Promise.all([
    realpath(directory).catch(() => undefined),
    realpath(join(directory, name)).catch(() => undefined),
  ]);
  if (parent === undefined || folder === undefined) throw new PluginProblem('its folder is gone');
  if (!isBelow(parent, folder)) throw new PluginProblem('its folder leads out of plugins.directory');
  return folder;
}

/** A configured pin is always enforced, whatever `plugins.integrity` says. */
function checkPin(name: string, toml: Buffer, { integrity, installed }: PluginsSettings): void {
  const pin = installed[name]?.pin ?? '';
  if (pin === '' && integrity === 'pin') {
    throw new PluginProblem(`plugins.integrity is "pin", and plugins.installed.${name}.pin is not set`);
  }
  if (pin !== '' && sha256(toml) !== pin) throw new PluginProblem('plugin.toml does not match its pin');
}

function checkHash(wasm: Buffer, manifest: PluginManifest, { integrity, installed }: PluginsSettings): void {
  const isPinned = (installed[manifest.name]?.pin ?? '') !== '';
  if (manifest.sha256 === undefined) {
    if (integrity === 'none' && !isPinned) return;
    throw new PluginProblem('plugin.toml has no sha256 for its module');
  }
  if (sha256(wasm) !== manifest.sha256)
    throw new PluginProblem('the module does not match sha256 in plugin.toml');
}

function checkLimit(key: string, value: number, max: number): void {
  if (value > max) throw new PluginProblem(`limits.${key} is ${value}, and the maximum is ${max}`);
}

function configOf(name: string, { config }: PluginManifest, { installed }: PluginsSettings) {
  return { ...config, ...installed[name]?.config };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const MAX_PLUGINS = 64;
const MAX_NAME_LENGTH = 64;

/** The plugin folders in `directory`, sorted by name, at most 64; files and hidden folders are left out. Throws when it cannot be read. */
export async function pluginNames(directory: string): Promise<readonly string[]> {
  if (directory === '') return [];
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .filter((name) => name.length <= MAX_NAME_LENGTH)
    .sort()
    .slice(0, MAX_PLUGINS);
}

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
type PluginManifest = z.output<typeof manifest>;

/** Throws a `PluginProblem` that names the wrong keys, at most five. */
function parseManifest(text: string): PluginManifest {
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
