import type { Database } from '../../platform/database/database.js';
import type { OnCommit, SqlRunner } from '../../platform/database/sql.js';
import type { EventStore } from '../../platform/events/event.store.js';
import {
  afterEdits,
  type CandidateBuilder,
  newlyIgnored,
  type OverrideEdit,
  type SettingsCandidate,
} from '../../platform/settings/candidate-builder.js';
import { parsePath } from '../../platform/settings/dotted-path.js';
import { isWaiting, type SettingsSnapshot, snapshotOf } from '../../platform/settings/live-settings.js';
import { type ReadyChange, SettingsSwitch } from '../../platform/settings/settings-switch.js';
import { nodeAt } from '../../platform/settings/settings-tree.js';
import { InvalidSettings, type SettingsLayer } from '../../platform/settings/settings-validation.js';
import { SecuritySettings } from './config.errors.js';
import type { ConfigStore } from './config.store.js';
import type { ConfigAction, ConfigAuthor } from './config-change.js';

const MAX_OVERRIDES = 5000;

export interface ChangePlan {
  readonly action: ConfigAction;
  readonly actor: ConfigAuthor;
  /** New layers of file and environment; without them, those in force. */
  readonly layers?: readonly SettingsLayer[];
  /** What to store, given the configuration as it is under the lock. Without edits nothing is stored. */
  edits(
    base: SettingsSnapshot,
    runner: SqlRunner,
  ): readonly OverrideEdit[] | Promise<readonly OverrideEdit[]>;
  /** Runs in the transaction of the change, given the configuration after it. */
  readonly onCommit?: OnCommit<SettingsSnapshot> | undefined;
}

/**
 * Changes what is stored. Under a lock over all replicas it builds the candidate, lets every subscriber prepare, stores
 * the overrides with their history, and only then switches. After any failure the old configuration stays in force.
 */
export class OverrideChanger {
  constructor(
    private readonly database: Database,
    private readonly store: ConfigStore,
    private readonly builder: CandidateBuilder,
    private readonly settingsSwitch: SettingsSwitch,
    private readonly events: EventStore,
  ) {}

  /** @returns the configuration after the change, as published */
  change(plan: ChangePlan): Promise<SettingsSnapshot> {
    return this.settingsSwitch.exclusive(async () => {
      const held: { ready?: ReadyChange } = {};
      try {
        const revision = await this.database.transaction(async (runner) => {
          const written = await this.write(plan, runner, held);
          await plan.onCommit?.(runner, held.ready?.published(written) ?? this.settingsSwitch.live.snapshot);
          return written;
        });
        held.ready?.commit(revision);
      } catch (error) {
        held.ready?.rollBack();
        throw error;
      }
      return this.settingsSwitch.live.snapshot;
    });
  }

  private async write(plan: ChangePlan, runner: SqlRunner, held: { ready?: ReadyChange }): Promise<string> {
    await this.store.lock(runner);
    const stored = await this.store.load(runner);
    const { live } = this.settingsSwitch;
    const layers = plan.layers ?? live.snapshot.layers;
    const base = this.builder.build(live.snapshot.layers, stored);
    const edits = await plan.edits(snapshotOf(base, live.current), runner);
    if (plan.action !== 'reload') refuseSecurity(edits, plan.actor);
    if (edits.length === 0 && plan.layers === undefined) return stored.revision;
    const rows = plan.action === 'reload' ? stored.rows : afterEdits(stored.rows, edits);
    const candidate = this.builder.build(layers, { ...stored, rows });
    if (plan.action !== 'reload') refuseUnfit(base, candidate);
    held.ready = await this.settingsSwitch.prepare(candidate);
    if (edits.length === 0) return stored.revision;
    const keys = edits.map(({ key }) => key);
    const data = { keys, reload_required: isWaiting(held.ready.snapshot, keys) };
    await this.events.emit(runner, { name: 'config.updated', userId: null, data });
    return this.store.write(runner, { action: plan.action, actor: plan.actor, edits });
  }
}

/**
 * Checked here, where every change passes: a rollback may restore keys that its author may not set, and null for a
 * section removes every key below it. A reload is exempt: the operator wrote the file and the environment.
 */
function refuseSecurity(edits: readonly OverrideEdit[], { maySetSecurity }: ConfigAuthor): void {
  if (maySetSecurity) return;
  const keys = edits.map(({ key }) => key).filter(isSecurity);
  if (keys.length > 0) throw new SecuritySettings(keys);
}

function isSecurity(key: string): boolean {
  const path = parsePath(key);
  return path !== undefined && nodeAt(path)?.marks.security === true;
}

/** What a start would skip with a warning is an error in a request. */
function refuseUnfit(base: SettingsCandidate, candidate: SettingsCandidate): void {
  if (candidate.stored.rows.length > MAX_OVERRIDES) {
    const message = `at most ${MAX_OVERRIDES} keys may be changed at run time`;
    throw new InvalidSettings([{ where: '', key: '', message }]);
  }
  const unfit = newlyIgnored(base, candidate);
  if (unfit.length > 0) throw new InvalidSettings(unfit);
}
