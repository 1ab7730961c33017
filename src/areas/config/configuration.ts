import { BadRequest } from '../../common/errors/gateway-error.js';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import type { OnCommit, SqlRunner } from '../../platform/database/sql.js';
import { SerialQueue } from '../../platform/runtime/serial-queue.js';
import type { SecretBox } from '../../platform/secrets/secret-box.js';
import type { CandidateBuilder, SettingsCandidate } from '../../platform/settings/candidate-builder.js';
import { anyWithin, isWithin, type Table } from '../../platform/settings/dotted-path.js';
import {
  compareSettings,
  type LiveSettings,
  type SettingsSnapshot,
} from '../../platform/settings/live-settings.js';
import type { SettingsLayer } from '../../platform/settings/settings-validation.js';
import { ConfigurationMoved } from './config.errors.js';
import type { ConfigStore } from './config.store.js';
import type { ConfigAuthor, ConfigChange } from './config-change.js';
import { readPatch } from './config-patch.js';
import type { ChangePlan, OverrideChanger } from './override-changer.js';
import { editsForPatch, editsToShow, editsToUndo, unfitItems } from './override-edits.js';

export interface PatchOutcome {
  /** The keys applied, as dotted paths. */
  readonly updated: readonly string[];
  readonly reloadRequired: boolean;
  /** Of the configuration after the change. */
  readonly etag: string;
}

export interface RollbackOutcome {
  /** The keys that changed. */
  readonly changed: readonly string[];
  /** Whether one of them takes effect only at the next start. */
  readonly reloadRequired: boolean;
}

export interface ConfigurationParts {
  readonly live: LiveSettings;
  readonly changer: OverrideChanger;
  readonly builder: CandidateBuilder;
  readonly store: ConfigStore;
  readonly box: SecretBox;
  /** The file that is read, if there is one. */
  readonly file: () => string | undefined;
  /** Reads file and environment again. Throws `InvalidSettings` with everything that is wrong. */
  readonly readLayers: () => readonly SettingsLayer[];
}

const MAX_WAITING = 64;
const HISTORY = new KeysetList<ConfigChange>('config_history', ['number'], ({ revision }) => [revision]);

/** The configuration of this gateway: the settings in force, and the ways to change them at run time, one at a time. */
export class Configuration {
  private readonly queue = new SerialQueue(MAX_WAITING);

  constructor(private readonly parts: ConfigurationParts) {}

  get live(): LiveSettings {
    return this.parts.live;
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
    const { live, box } = this.parts;
    const items = readPatch(body, {
      maySetSecurity: actor.maySetSecurity,
      isStored: (key) => live.snapshot.stored.rows.some((row) => isWithin(row.key, key)),
      valueProblems: (found) => unfitItems(found, live.snapshot, this.parts),
    });
    const updated = items.map(({ key }) => key);
    const outcomeOf = (snapshot: SettingsSnapshot): PatchOutcome => {
      return { updated, reloadRequired: anyWithin(snapshot.waiting, updated), etag: snapshot.etag };
    };
    const snapshot = await this.change({
      action: 'patch',
      actor,
      plan: (base) => {
        if (!allowed(base.etag)) throw new ConfigurationMoved();
        return { edits: editsForPatch(items, base.stored.rows, box) };
      },
      onCommit: onCommit && ((runner, after) => onCommit(runner, outcomeOf(after))),
    });
    return outcomeOf(snapshot);
  }

  /** Reads file and environment again. Throws `InvalidSettings` and changes nothing when they are wrong. @returns the keys that changed */
  async reload(actor: ConfigAuthor, onCommit?: OnCommit<readonly string[]>): Promise<readonly string[]> {
    const { builder, readLayers } = this.parts;
    const layers = readLayers();
    let changed: readonly string[] = [];
    await this.change({
      action: 'reload',
      actor,
      plan: (base) => {
        const reloaded = builder.build(layers, base.stored);
        changed = compareSettings(base, reloaded.settings).changed;
        return { reloaded, edits: editsToShow(changed, base.settings, reloaded.settings) };
      },
      onCommit: onCommit && ((runner) => onCommit(runner, changed)),
    });
    return changed;
  }

  /**
   * Restores the stored overrides as they were right after a revision (without one: before the newest change), as a new
   * change. Throws `BadRequest` for a revision that never was or that the history no longer has, and `SecuritySettings`
   * when it would change keys that its author may not.
   */
  async rollBack(
    actor: ConfigAuthor,
    to: bigint | undefined,
    onCommit?: OnCommit<RollbackOutcome>,
  ): Promise<RollbackOutcome> {
    const { store } = this.parts;
    let changed: readonly string[] = [];
    const outcomeOf = (snapshot: SettingsSnapshot): RollbackOutcome => {
      return { changed, reloadRequired: anyWithin(snapshot.waiting, changed) };
    };
    const snapshot = await this.change({
      action: 'rollback',
      actor,
      plan: async ({ stored }, runner) => {
        const target = to ?? (await beforeNewest(store, runner));
        const changes = await store.changesAfter(target, runner);
        refuseGap(changes, target, BigInt(stored.revision));
        const edits = editsToUndo(changes, stored.rows);
        changed = edits.map(({ key }) => key);
        return { edits };
      },
      onCommit: onCommit && ((runner, after) => onCommit(runner, outcomeOf(after))),
    });
    return outcomeOf(snapshot);
  }

  /** What was changed at run time and by whom, newest first. */
  async history(query: PageQuery): Promise<Page<ConfigChange>> {
    const [before] = HISTORY.after(query);
    return HISTORY.page(await this.parts.store.page(query.limit + 1, before), query);
  }

  /** Applies what another replica or a command line has stored. */
  async followStore(): Promise<void> {
    const { live, store, builder } = this.parts;
    const known = live.snapshot.stored.revision;
    // Outside the queue: a database that hangs would hold up what comes from the file.
    const stored = await store.load();
    await this.queue.run(async () => {
      // What was changed here meanwhile may be newer; the next look finds out.
      if (stored.revision !== known && live.snapshot.stored.revision === known)
        await this.follow(builder.build(live.snapshot.layers, stored));
    });
  }

  /** Applies what the file says now. Throws `InvalidSettings` and changes nothing when it is wrong. */
  async followFile(): Promise<void> {
    const { live, builder, readLayers } = this.parts;
    await this.queue.run(() => this.follow(builder.build(readLayers(), live.snapshot.stored)));
  }

  private change(plan: ChangePlan): Promise<SettingsSnapshot> {
    return this.queue.run(() => this.parts.changer.change(plan));
  }

  /** Publishes what is stored already. */
  private async follow(candidate: SettingsCandidate): Promise<void> {
    const ready = await this.live.prepare(candidate);
    ready.publish(ready.at(candidate.stored.revision));
  }
}

async function beforeNewest(store: ConfigStore, runner: SqlRunner): Promise<bigint> {
  const newest = await store.newestUndoable(runner);
  if (newest === undefined) throw new BadRequest('There is no change that could be undone.');
  return BigInt(newest.revision) - 1n;
}

function refuseGap(changes: readonly ConfigChange[], target: bigint, now: bigint): void {
  if (target < 0n || target > now)
    throw new BadRequest(`There was no revision ${target}; the newest is ${now}.`);
  if (BigInt(changes.length) !== now - target)
    throw new BadRequest(`The history does not reach back to revision ${target}.`);
}
