import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isBelow, readContained } from '../../../platform/files/contained-file.js';
import type { PluginsSettings } from '../../../platform/settings/sections/plugins.section.js';
import { limitModule } from '../module/limit-module.js';
import { PluginProblem } from '../plugin-problem.js';
import { type PluginManifest, parseManifest } from './plugin-manifest.js';

const MAX_MANIFEST_BYTES = 65_536;
const MAX_MODULE_BYTES = 16_777_216;
const BYTES_PER_MB = 1_048_576;

/** A plugin as it lies on the disk, checked, with its limits settled: everything that a thread needs to run it. */
export interface PluginPackage {
  readonly folder: string;
  readonly manifest: PluginManifest;
  /** The module with its memory bounded. */
  readonly module: Uint8Array<ArrayBuffer>;
  readonly memoryBytes: number;
  readonly callTimeoutMs: number;
  readonly loadTimeoutMs: number;
  /** What it may read; empty without that permission. */
  readonly config: Readonly<Record<string, string>>;
}

/** Reads `directory/name`. Throws `PluginProblem` and `FileProblem`. */
export async function readPackage(name: string, settings: PluginsSettings): Promise<PluginPackage> {
  const folder = await folderOf(name, settings.directory);
  const toml = await readContained(folder, 'plugin.toml', MAX_MANIFEST_BYTES);
  checkPin(name, toml, settings);
  const manifest = parseManifest(toml.toString('utf8'));
  if (manifest.name !== name) throw new PluginProblem('name in plugin.toml is not that of its folder');
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

/** A pin that is set always holds, whatever `plugins.integrity` says. */
function checkPin(name: string, toml: Buffer, { integrity, installed }: PluginsSettings): void {
  const pin = installed[name]?.pin ?? '';
  if (pin === '' && integrity === 'pin') {
    throw new PluginProblem(`plugins.integrity is "pin", and plugins.installed.${name}.pin is not set`);
  }
  if (pin !== '' && sha256(toml) !== pin)
    throw new PluginProblem('plugin.toml is not the one that is pinned');
}

function checkHash(wasm: Buffer, manifest: PluginManifest, { integrity, installed }: PluginsSettings): void {
  const isPinned = (installed[manifest.name]?.pin ?? '') !== '';
  if (manifest.sha256 === undefined) {
    if (integrity === 'none' && !isPinned) return;
    throw new PluginProblem('plugin.toml names no sha256 of its module');
  }
  if (sha256(wasm) !== manifest.sha256)
    throw new PluginProblem('the module is not the one that sha256 names');
}

function checkLimit(key: string, value: number, most: number): void {
  if (value > most) throw new PluginProblem(`limits.${key} is ${value}, and at most ${most} is given`);
}

function configOf(name: string, { config }: PluginManifest, { installed }: PluginsSettings) {
  return { ...config, ...installed[name]?.config };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
