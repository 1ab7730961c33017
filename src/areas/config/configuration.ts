import type { OnCommit } from '../../platform/database/sql.js';
import type { SecretBox } from '../../platform/secrets/secret-box.js';
import type { CandidateBuilder } from '../../platform/settings/candidate-builder.js';
import { isWithin, type Table } from '../../platform/settings/dotted-path.js';
import {
  changedKeys,
  isWaiting,
  LiveSettings,
  type SettingsSnapshot,
} from '../../platform/settings/live-settings.js';
import { SettingsSubscribers } from '../../platform/settings/settings-subscribers.js';
import { SettingsSwitch } from '../../platform/settings/settings-switch.js';
import type { SettingsLayer } from '../../platform/settings/settings-validation.js';
import { ConfigurationMoved } from './config.errors.js';
import type { ConfigStore } from './config.store.js';
import type { ConfigAuthor } from './config-change.js';
import { readPatch } from './config-patch.js';
import { type RollbackOutcome, rollBack } from './config-rollback.js';
import type { OverrideChanger } from './override-changer.js';
import { editsForPatch, editsToShow, unfitItems } from './override-edits.js';

export interface PatchOutcome {
  /** The keys applied, as dotted paths. */
  readonly updated: readonly string[];
  readonly reloadRequired: boolean;
  /** Of the configuration after the change. */
  readonly etag: string;
}

export interface ConfigurationParts {
  readonly live: LiveSettings;
  readonly subscribers: SettingsSubscribers;
  readonly settingsSwitch: SettingsSwitch;
  readonly changer: OverrideChanger;
  readonly builder: CandidateBuilder;
  readonly store: ConfigStore;
  readonly box: SecretBox;
  /** The file that is read, if there is one. */
  readonly file: () => string | undefined;
  /** Reads file and environment again. Throws `InvalidSettings` with everything that is wrong. */
  readonly readLayers: () => readonly SettingsLayer[];
}

/** The configuration of this gateway: the settings in force, and the ways to change them at run time. */
export class Configuration {
  constructor(private readonly parts: ConfigurationParts) {}

  get live(): LiveSettings {
    return this.parts.live;
  }

  get subscribers(): SettingsSubscribers {
    return this.parts.subscribers;
  }

  /** The file that is read, if there is one. */
  file(): string | undefined {
    return this.parts.file();
  }

  /**
   * Applies all of the body's keys, or none (docs/specification/api.md, 4.2). `allowed` checks the tag of the
   * configuration in force against If-Match. Throws `InvalidSettings`, `FileOnlySettings`, `SecuritySettings`,
   * `ConfigurationMoved`, and what an area throws that cannot apply it. `onCommit` is committed with the change.
   */
  async patch(
    body: Table,
    actor: ConfigAuthor,
    allowed: (etag: string) => boolean,
    onCommit?: OnCommit<PatchOutcome>,
  ): Promise<PatchOutcome> {
    const { live, changer, box } = this.parts;
    const items = readPatch(body, {
      maySetSecurity: actor.maySetSecurity,
      isStored: (key) => live.snapshot.stored.rows.some((row) => isWithin(row.key, key)),
      valueProblems: (found) => unfitItems(found, live.snapshot, this.parts),
    });
    const updated = items.map(({ key }) => key);
    const outcomeOf = (snapshot: SettingsSnapshot): PatchOutcome => {
      return { updated, reloadRequired: isWaiting(snapshot, updated), etag: snapshot.etag };
    };
    const snapshot = await changer.change({
      action: 'patch',
      actor,
      edits: (base) => {
        if (!allowed(base.etag)) throw new ConfigurationMoved();
        return editsForPatch(items, base.stored.rows, box);
      },
      onCommit: onCommit && ((runner, after) => onCommit(runner, outcomeOf(after))),
    });
    return outcomeOf(snapshot);
  }

  /** Reads file and environment again. Throws `InvalidSettings` and changes nothing when they are wrong. @returns the keys that changed */
  async reload(actor: ConfigAuthor, onCommit?: OnCommit<readonly string[]>): Promise<readonly string[]> {
    const { changer, builder, readLayers } = this.parts;
    const layers = readLayers();
    let changed: readonly string[] = [];
    await changer.change({
      action: 'reload',
      actor,
      layers,
      edits: (base) => {
        const next = builder.build(layers, base.stored);
        changed = changedKeys(base.settings, next.settings);
        return editsToShow(changed, base.settings, next.settings);
      },
      onCommit: onCommit && ((runner) => onCommit(runner, changed)),
    });
    return changed;
  }

  /** Undoes changes made at run time: everything after a revision, or the newest one. Throws as `rollBack` does. */
  rollBack(
    actor: ConfigAuthor,
    to: bigint | undefined,
    onCommit?: OnCommit<RollbackOutcome>,
  ): Promise<RollbackOutcome> {
    return rollBack(this.parts, actor, to, onCommit);
  }

  /** Applies what another replica or a command line has stored. Cheap when there is nothing new. */
  async followStore(): Promise<void> {
    const { live, store, settingsSwitch, builder } = this.parts;
    if ((await store.revision()) === live.snapshot.stored.revision) return;
    await settingsSwitch.exclusive(async () => {
      const stored = await store.load();
      if (stored.revision === live.snapshot.stored.revision) return;
      const ready = await settingsSwitch.prepare(builder.build(live.snapshot.layers, stored));
      ready.commit(stored.revision);
    });
  }

  /** Applies what the file says now. Throws `InvalidSettings` and changes nothing when it is wrong. */
  async followFile(): Promise<void> {
    const { live, settingsSwitch, builder, readLayers } = this.parts;
    await settingsSwitch.exclusive(async () => {
      const { stored } = live.snapshot;
      const ready = await settingsSwitch.prepare(builder.build(readLayers(), stored));
      ready.commit(stored.revision);
    });
  }
}
