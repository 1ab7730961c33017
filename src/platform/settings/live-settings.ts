import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../logging/logger.js';
import { newlyIgnored, type SettingsCandidate } from './candidate-builder.js';
import { mergeTables, readAt, type Table, writeAt } from './dotted-path.js';
import { redactedTree, type SecretRegistrar } from './redaction.js';
import { warnOfOverruled } from './replica-keys.js';
import { Settings } from './settings.js';
import type { GatewaySettings } from './settings.schema.js';
import type { SettingsChanges } from './settings-changes.js';
import { frozen } from './settings-loader.js';
import { settingValues } from './settings-tree.js';

/** One state of the configuration: what is configured, what is in force, and what callers see. */
export interface SettingsSnapshot extends SettingsCandidate {
  /** The settings in force: like `settings`, except that keys that need a restart keep their value from the start. */
  readonly current: GatewaySettings;
  /** The keys whose values differ between `current` and `settings`. */
  readonly waiting: readonly string[];
  /** What GET /config shows: `settings` without its secrets. */
  readonly shown: Table;
  /** Changes whenever `shown` does, and with every stored change. */
  readonly etag: string;
}

/** How a state changes when other settings are configured. */
export interface SettingsComparison {
  /** The keys that are configured differently, in the order of the tree, then those that were removed. */
  readonly changed: readonly string[];
  /** Those of them that take effect at once. */
  readonly applied: readonly string[];
  readonly current: GatewaySettings;
  readonly waiting: readonly string[];
}

/** Compares what is configured and what is in force with other settings, walking once over both. */
export function compareSettings(
  before: Pick<SettingsSnapshot, 'settings' | 'current'>,
  settings: GatewaySettings,
): SettingsComparison {
  const old = new Map(settingValues(before.settings).map(({ key, value }) => [key, value]));
  const [changed, applied, waiting]: [string[], string[], string[]] = [[], [], []];
  const kept: { path: readonly string[]; value: unknown }[] = [];
  for (const { key, node, value } of settingValues(settings)) {
    const differs = !old.has(key) || !isDeepStrictEqual(old.get(key), value);
    old.delete(key);
    if (differs) changed.push(key);
    const running = node.marks.restart ? readAt(before.current, node.path) : undefined;
    if (running === undefined) {
      if (differs) applied.push(key);
    } else if (!isDeepStrictEqual(running, value)) {
      waiting.push(key);
      kept.push({ path: node.path, value: running });
    }
  }
  const current = kept.length === 0 ? settings : (mergeTables([settings]) as GatewaySettings);
  for (const { path, value } of kept) writeAt(current, path, value);
  return {
    changed: [...changed, ...old.keys()],
    applied: [...applied, ...old.keys()],
    current: frozen(current),
    waiting,
  };
}

export function snapshotOf(
  candidate: SettingsCandidate,
  { current, waiting }: Pick<SettingsSnapshot, 'current' | 'waiting'>,
): SettingsSnapshot {
  const shown = frozen(redactedTree(candidate.settings));
  return { ...candidate, current, waiting, shown, etag: etagOf(shown, candidate.stored.revision) };
}

/** Hashes the redacted tree, not the settings, so that no one can test guesses of secrets against the tag. */
function etagOf(shown: Table, revision: string): string {
  const hash = createHash('sha256').update(JSON.stringify(shown)).digest('hex');
  return `"${revision}-${hash.slice(0, 16)}"`;
}

/** A change that is ready to be put in force; nothing has changed before `publish`. */
export interface ReadyChange extends SettingsComparison {
  /** What `publish` will put in force, under the revision with which the change is stored. */
  at(revision: string): SettingsSnapshot;
  /** Puts it in force and notifies all listeners, synchronously and without failing. */
  publish(snapshot: SettingsSnapshot): void;
}

/** The settings of a running gateway. A change replaces them as a whole. */
export class LiveSettings extends Settings {
  constructor(
    private inForce: SettingsSnapshot,
    readonly changes: SettingsChanges,
    private readonly secrets: SecretRegistrar,
    private readonly logger: Logger,
  ) {
    super();
  }

  override get current(): GatewaySettings {
    return this.inForce.current;
  }

  get snapshot(): SettingsSnapshot {
    return this.inForce;
  }

  /** Prepares a change; one at a time. Throws what a `SettingsStep` throws. */
  async prepare(candidate: SettingsCandidate): Promise<ReadyChange> {
    const before = this.inForce;
    const hideSecrets = this.secrets.expect(candidate);
    const compared = compareSettings(before, candidate.settings);
    const { current, changed, applied } = compared;
    const tell = await this.changes.prepare({ before: before.current, after: current, keys: applied });
    return {
      ...compared,
      at: (revision) => snapshotOf({ ...candidate, stored: { ...candidate.stored, revision } }, compared),
      publish: (snapshot) => {
        this.inForce = snapshot;
        hideSecrets();
        logChange(this.logger, snapshot, changed);
        warnOfIgnored(this.logger, snapshot, before);
        warnOfOverruled(this.logger, snapshot, before);
        tell();
      },
    };
  }
}

const MAX_LOGGED = 20;

function logChange(logger: Logger, { stored }: SettingsSnapshot, changed: readonly string[]): void {
  if (changed.length === 0) return;
  const shown = { keys: changed.slice(0, MAX_LOGGED), changed: changed.length };
  logger.info('the configuration changed', { ...shown, revision: stored.revision });
}

/** Warns about each stored override that is ignored, unless it was ignored before. */
export function warnOfIgnored(logger: Logger, now: SettingsCandidate, before?: SettingsCandidate): void {
  for (const { key, message } of newlyIgnored(now, before))
    logger.warn('a stored configuration override no longer fits and is ignored', { key, message });
}
