import { BadRequest } from '../../common/errors/gateway-error.js';
import type { OnCommit, SqlRunner } from '../../platform/database/sql.js';
import { isWaiting, type SettingsSnapshot } from '../../platform/settings/live-settings.js';
import type { ConfigStore } from './config.store.js';
import type { ConfigAuthor, ConfigChange } from './config-change.js';
import type { OverrideChanger } from './override-changer.js';
import { editsToUndo } from './override-edits.js';

export interface RollbackOutcome {
  /** The keys that changed. */
  readonly changed: readonly string[];
  /** One of them takes effect at the next start only. */
  readonly reloadRequired: boolean;
}

/**
 * Restores the stored overrides as they were right after a revision (without one: before the newest change), as a new
 * change. Throws `BadRequest` for a revision that never was or that the history no longer has, and `SecuritySettings`
 * when it would change keys that its author may not.
 */
export async function rollBack(
  parts: { readonly changer: OverrideChanger; readonly store: ConfigStore },
  actor: ConfigAuthor,
  to: bigint | undefined,
  onCommit?: OnCommit<RollbackOutcome>,
): Promise<RollbackOutcome> {
  let changed: readonly string[] = [];
  const outcomeOf = (snapshot: SettingsSnapshot): RollbackOutcome => ({
    changed,
    reloadRequired: isWaiting(snapshot, changed),
  });
  const snapshot = await parts.changer.change({
    action: 'rollback',
    actor,
    onCommit: onCommit && ((runner, after) => onCommit(runner, outcomeOf(after))),
    edits: async (base, runner) => {
      const target = to ?? (await beforeNewest(parts.store, runner));
      const changes = await parts.store.changesAfter(target, runner);
      refuseGap(changes, target, BigInt(base.stored.revision));
      const edits = editsToUndo(changes, base.stored.rows);
      changed = edits.map(({ key }) => key);
      return edits;
    },
  });
  return outcomeOf(snapshot);
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
