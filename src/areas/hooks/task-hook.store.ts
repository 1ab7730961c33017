import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner, Statement } from '../../platform/database/sql.js';
import { Settings } from '../../platform/settings/settings.js';
import { familyOf } from '../../platform/tokens/caller.js';
import { holdToken } from '../../platform/tokens/token-endings.js';
import { LOCK_REGISTRATIONS } from './hook.store.js';
import { HookSecrets } from './hook-secrets.js';
import { removeToldHooks, type TaskHook, type TaskHookTerms } from './task-hook.js';

/** Upper limits: of all tasks together, of one token and its replacements (0 for none), of one task. */
export interface TaskHookQuota {
  readonly all: number;
  readonly share: number;
  readonly task: number;
}

/** A limit that is reached. */
export type FullQuota = keyof TaskHookQuota;

/** Held until the commit: a turn that ends meanwhile finds the hook, or the hook finds that it has ended. */
const LOCK_TURN: Statement = {
  name: 'task_hooks.lock_turn',
  text: 'SELECT session_id, status FROM turns WHERE id = $1 FOR SHARE',
};
const USED: Statement = {
  name: 'task_hooks.used',
  text: `
    SELECT count(*)::int AS all, (count(*) FILTER (WHERE token_family = $1))::int AS share,
      (count(*) FILTER (WHERE message_id = $2))::int AS task,
      (SELECT o.id FROM hooks AS o WHERE o.message_id = $2 AND o.config_id = $3) AS same
    FROM hooks WHERE message_id IS NOT NULL`,
};
const REMOVE_TOLD: Statement = {
  name: 'task_hooks.remove_told',
  text: removeToldHooks('h.message_id IS NOT NULL'),
};
const INSERT: Statement = {
  name: 'task_hooks.insert',
  text: `
    WITH made AS (
      INSERT INTO hooks (id, url, events, secret, user_id, token_family, made_with, message_id, config_id)
      VALUES ($1, $2, '{}', $3, $4, $5, $6, $7, $8) RETURNING id
    ), lane AS (
      INSERT INTO hook_lanes (hook_id) SELECT id FROM made
    ), audited AS (${auditedSql({
      ...{ action: 'hook.created', subject: 'id', origin: '$9', from: 'made' },
      details: `jsonb_build_object('message_id', $7::text)`,
    })})
    SELECT id FROM made`,
};
/** What waits is sent to where it is now. */
const REPLACE: Statement = {
  name: 'task_hooks.replace',
  text: `
    WITH made AS (
      UPDATE hooks SET url = $2, secret = $3, user_id = $4, token_family = $5, made_with = $6, active = true, inactive_reason = NULL
      WHERE id = $1 AND message_id = $7 AND config_id = $8 RETURNING id
    ), lane AS (
      UPDATE hook_lanes SET failing_since = NULL FROM made WHERE hook_id = made.id
    ), audited AS (${auditedSql({
      ...{ action: 'hook.created', subject: 'id', origin: '$9', from: 'made' },
      details: `jsonb_build_object('message_id', $7::text)`,
    })})
    SELECT id FROM made`,
};
const TELL: Statement = {
  name: 'task_hooks.tell',
  text: 'SELECT tell_of_task($1, $2, $3, $4, $5) AS deliveries',
};
const LIST: Statement = {
  name: 'task_hooks.list',
  text: `
    SELECT config_id, url FROM hooks
    WHERE message_id = $1 AND inactive_reason IS DISTINCT FROM 'token_revoked'
    ORDER BY created_at, id`,
};
/** `$2` null for all of a message that began no task. */
const REMOVE: Statement = {
  name: 'task_hooks.remove',
  text: `
    WITH gone AS (
      DELETE FROM hooks WHERE message_id = $1 AND (config_id = $2
        OR $2::text IS NULL AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = $1)) RETURNING id
    ), lane AS (
      DELETE FROM hook_lanes USING gone WHERE hook_id = gone.id
    ), audited AS (${auditedSql({ action: 'hook.deleted', subject: 'id', origin: '$3', from: 'gone' })})
    SELECT id FROM gone`,
};
const OVER: ReadonlySet<string> = new Set(['completed', 'cancelled', 'failed', 'interrupted']);
const MADE_ROOM_AT_ONCE = 1000;

/** Stores who is told of which task, among the webhooks. */
@Injectable()
export class TaskHookStore {
  constructor(
    private readonly database: Database,
    private readonly secrets: HookSecrets,
    private readonly settings: Settings,
  ) {}

  /**
   * Replaces the one of the same name. One for a task that is over is told so. Throws `TokenRevoked`.
   * @returns how many deliveries there are for it already, or the limit that is reached
   */
  put(terms: TaskHookTerms, quota: TaskHookQuota): Promise<number | FullQuota> {
    const { messageId, turnId, hook, maker } = terms;
    return this.database.transaction(async (runner) => {
      await holdToken(runner, maker);
      await runner.query(LOCK_REGISTRATIONS);
      const [turn] = await runner.query<{ session_id: string; status: string }>(LOCK_TURN, [turnId ?? '']);
      const room = await this.roomFor(runner, terms, quota);
      if ('full' in room) return room.full;
      const id = room.same ?? newId('hook');
      const sealed = hook.secret === null ? null : this.secrets.seal(id, hook.secret);
      await runner.query(room.same === undefined ? INSERT : REPLACE, [
        ...[id, hook.url, sealed, maker.boundUserId, familyOf(maker), maker.credential ?? null],
        ...[messageId, hook.configId, originJson()],
      ]);
      if (turn === undefined || !OVER.has(turn.status)) return 0;
      const told = [messageId, id, turn.session_id, turnId ?? null, turn.status];
      return (await runner.query<{ deliveries: number }>(TELL, told))[0]?.deliveries ?? 0;
    });
  }

  /** Oldest first. */
  async list(messageId: string): Promise<TaskHook[]> {
    const rows = await this.database.query<{ config_id: string; url: string }>(LIST, [messageId]);
    return rows.map(({ config_id: configId, url }) => ({ configId, url }));
  }

  /** The ids of those that are gone. @param configId null for all of a message that began no task */
  async remove(messageId: string, configId: string | null): Promise<string[]> {
    const gone = await this.database.query<{ id: string }>(REMOVE, [messageId, configId, originJson()]);
    return gone.map(({ id }) => id);
  }

  /** The one that is replaced, or the limit that is reached even without those that have nothing left to tell. */
  private async roomFor(
    runner: SqlRunner,
    { messageId, hook, maker }: TaskHookTerms,
    { all, share, task }: TaskHookQuota,
  ): Promise<{ same: string | undefined } | { full: FullQuota }> {
    for (let hasCleaned = false; ; hasCleaned = true) {
      const counted = [familyOf(maker), messageId, hook.configId];
      const [used] = await runner.query<Record<FullQuota, number> & { same: string | null }>(USED, counted);
      if (used?.same !== null) return { same: used?.same };
      if (used.task >= task) return { full: 'task' };
      const isShareFull = share > 0 && used.share >= share;
      if (used.all < all && !isShareFull) return { same: undefined };
      if (hasCleaned) return { full: isShareFull ? 'share' : 'all' };
      const hours = this.settings.current.hooks.retention_hours;
      await runner.query(REMOVE_TOLD, [hours, MADE_ROOM_AT_ONCE]);
    }
  }
}
