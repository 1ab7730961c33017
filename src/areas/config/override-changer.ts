import type { Database } from '../../platform/database/database.js';
import type { OnCommit, SqlRunner } from '../../platform/database/sql.js';
import type { EventStore } from '../../platform/events/event.store.js';
import {
  afterEdits,
  type CandidateBuilder,
  newlyIgnored,
  type OverrideEdit,
  type SettingsCandidate,
  type StoredOverrides,
} from '../../platform/settings/candidate-builder.js';
import { anyWithin } from '../../platform/settings/dotted-path.js';
import {
  compareSettings,
  type LiveSettings,
  type SettingsSnapshot,
  snapshotOf,
} from '../../platform/settings/live-settings.js';
import { nodeOf } from '../../platform/settings/settings-tree.js';
import { InvalidSettings } from '../../platform/settings/settings-validation.js';
import { SecuritySettings } from './config.errors.js';
import type { ConfigStore } from './config.store.js';
import type { ConfigAction, ConfigAuthor } from './config-change.js';

const MAX_OVERRIDES = 5000;

export interface PlannedChange {
  /** What to record: edits of stored overrides, or what a reload changed. */
  readonly edits: readonly OverrideEdit[];
  /** The configuration after a reload; without it, the one with the edits. */
  readonly reloaded?: SettingsCandidate;
}

export interface ChangePlan {
  readonly action: ConfigAction;
  readonly actor: ConfigAuthor;
  /** What to change, given the configuration as it is under the lock. */
  plan(base: SettingsSnapshot, runner: SqlRunner): PlannedChange | Promise<PlannedChange>;
  /** Runs in the transaction of the change, given the configuration after it. */
  readonly onCommit?: OnCommit<SettingsSnapshot> | undefined;
}

interface Written {
  /** The configuration after the change. */
  readonly snapshot: SettingsSnapshot;
  publish(): void;
}

/**
 * Changes what is stored, one change at a time over all replicas. Under their lock it builds and checks the whole
 * configuration, prepares it and stores the change; after the commit it is published. After any failure the old configuration
 * stays in force.
 */
export class OverrideChanger {
  constructor(
    private readonly database: Database,
    private readonly store: ConfigStore,
    private readonly builder: CandidateBuilder,
    private readonly live: LiveSettings,
    private readonly events: EventStore,
  ) {}

  /** One at a time in this process, too. @returns the configuration after the change, as published */
  async change(plan: ChangePlan): Promise<SettingsSnapshot> {
    const written = await this.database.transaction(async (runner) => {
      const done = await this.write(plan, runner);
      await plan.onCommit?.(runner, done.snapshot);
      return done;
    });
    written.publish();
    return written.snapshot;
  }

  private async write(change: ChangePlan, runner: SqlRunner): Promise<Written> {
    const { action, actor } = change;
    await this.store.lock(runner);
    const stored = await this.store.load(runner);
    const base = this.baseOf(stored);
    const { edits, reloaded } = await change.plan(base, runner);
    const candidate = reloaded ?? this.edited(base, edits, actor);
    if (candidate === undefined) return { snapshot: this.live.snapshot, publish: () => undefined };
    const ready = await this.live.prepare(candidate);
    let { revision } = stored;
    if (edits.length > 0) {
      const keys = edits.map(({ key }) => key);
      const data = { keys, reload_required: anyWithin(ready.waiting, keys) };
      await this.events.emit(runner, { name: 'config.updated', userId: null, data });
      revision = await this.store.write(runner, { action, actor, edits });
    }
    const snapshot = ready.at(revision);
    return { snapshot, publish: () => ready.publish(snapshot) };
  }

  /** What is in force, unless another replica has just stored something that is not in force here yet. */
  private baseOf(stored: StoredOverrides): SettingsSnapshot {
    const { snapshot } = this.live;
    if (stored.revision === snapshot.stored.revision) return snapshot;
    const candidate = this.builder.build(snapshot.layers, stored);
    return snapshotOf(candidate, compareSettings(snapshot, candidate.settings));
  }

  /** The configuration with these edits; undefined when there are none. */
  private edited(
    base: SettingsSnapshot,
    edits: readonly OverrideEdit[],
    actor: ConfigAuthor,
  ): SettingsCandidate | undefined {
    refuseSecurity(edits, actor);
    if (edits.length === 0) return undefined;
    const rows = afterEdits(base.stored.rows, edits);
    const candidate = this.builder.build(base.layers, { ...base.stored, rows });
    refuseUnfit(base, candidate);
    return candidate;
  }
}

/**
 * Checked here, where every change passes: a rollback may restore keys that its author may not set, and null for a
 * section removes every key below it. A reload is exempt: the operator wrote the file and the environment.
 */
function refuseSecurity(edits: readonly OverrideEdit[], { maySetSecurity }: ConfigAuthor): void {
  if (maySetSecurity) return;
  const keys = edits.map(({ key }) => key).filter((key) => nodeOf(key)?.marks.security);
  if (keys.length > 0) throw new SecuritySettings(keys);
}

/** What a start would skip with a warning is an error in a request. */
function refuseUnfit(base: SettingsCandidate, candidate: SettingsCandidate): void {
  if (candidate.stored.rows.length > MAX_OVERRIDES) {
    const message = `at most ${MAX_OVERRIDES} keys may be changed at run time`;
    throw new InvalidSettings([{ where: '', key: '', message }]);
  }
  const unfit = newlyIgnored(candidate, base);
  if (unfit.length > 0) throw new InvalidSettings(unfit);
}
