import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { SettingsCandidate } from './candidate-builder.js';
import { isWithin, mergeTables, type Table, writeAt } from './dotted-path.js';
import { redactedTree } from './redaction.js';
import { Settings } from './settings.js';
import type { GatewaySettings } from './settings.schema.js';
import { frozen } from './settings-loader.js';
import { settingValues } from './settings-tree.js';

/** One state of the configuration: what is configured, what is in force, and what callers see. */
export interface SettingsSnapshot extends SettingsCandidate {
  /** The settings in force: `settings`, but keys that need a restart keep the value of the start. */
  readonly current: GatewaySettings;
  /** What GET /config shows: `settings` without its secrets. */
  readonly shown: Table;
  /** Changes whenever `shown` does, and with every stored change. */
  readonly etag: string;
}

export function snapshotOf(candidate: SettingsCandidate, current: GatewaySettings): SettingsSnapshot {
  const shown = frozen(redactedTree(candidate.settings));
  return { ...candidate, current, shown, etag: etagOf(shown, candidate.stored.revision) };
}

/** The target settings, but keys that need a restart keep their running values. */
export function livableSettings(target: GatewaySettings, running: GatewaySettings): GatewaySettings {
  const copy = mergeTables({}, target) as GatewaySettings;
  const known = new Set(settingValues(target).map(({ key }) => key));
  for (const { key, node, value } of settingValues(running)) {
    if (node.marks.restart && known.has(key)) writeAt(copy, node.path, value);
  }
  return frozen(copy);
}

/** Whether one of these keys, or a key below one, is not in force yet and waits for a restart. */
export function isWaiting({ current, settings }: SettingsSnapshot, keys: readonly string[]): boolean {
  const waiting = changedKeys(current, settings);
  return waiting.some((key) => keys.some((asked) => isWithin(key, asked)));
}

/** Hashes the redacted tree, not the settings, so that no one can test guesses of secrets against the tag. */
function etagOf(shown: Table, revision: string): string {
  const hash = createHash('sha256').update(JSON.stringify(shown)).digest('hex');
  return `"${revision}-${hash.slice(0, 16)}"`;
}

/** The settings of a running gateway, replaced as a whole and at once; only `SettingsSwitch` does so. */
export class LiveSettings extends Settings {
  constructor(private inForce: SettingsSnapshot) {
    super();
  }

  override get current(): GatewaySettings {
    return this.inForce.current;
  }

  get snapshot(): SettingsSnapshot {
    return this.inForce;
  }

  publish(snapshot: SettingsSnapshot): void {
    this.inForce = snapshot;
  }
}

/** The dotted keys whose value differs, in the order of the tree, then those that are gone. */
export function changedKeys(before: GatewaySettings, after: GatewaySettings): readonly string[] {
  const old = new Map(settingValues(before).map(({ key, value }) => [key, value]));
  const changed: string[] = [];
  for (const { key, value } of settingValues(after)) {
    if (!old.has(key) || !isDeepStrictEqual(old.get(key), value)) changed.push(key);
    old.delete(key);
  }
  return [...changed, ...old.keys()];
}
