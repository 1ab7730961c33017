import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import { bigint, integer, jsonb, nullable, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { Settings } from '../../platform/settings/settings.js';
import { familyOf } from '../../platform/tokens/caller.js';
import { holdToken } from '../../platform/tokens/token-endings.js';
import { LOCK_REGISTRATIONS } from './hook.store.js';
import { HookSecrets } from './hook-secrets.js';
import { removeToldHooks, type TaskHook, type TaskHookTerms } from './task-hook.js';

/** Upper limits: for all tasks together, for one token and its replacements (0 for none), for one task. */
export interface TaskHookQuota {
  readonly all: number;
  readonly share: number;
  readonly task: number;
}

/** A limit that is reached. */
export type FullQuota = keyof TaskHookQuota;

/** Held until the commit: a turn that ends meanwhile finds the hook, or the hook finds that the turn has ended. */
const LOCK_TURN = statement({
  name: 'task_hooks.lock_turn',
  params: { turn: text },
  row: { session_id: text, status: text },
  sql: 'SELECT session_id, status FROM turns WHERE id = :turn FOR SHARE',
});
const USED = statement({
  name: 'task_hooks.used',
  params: { family: text, message: text, config: text },
  row: { all: integer, share: integer, task: integer, same: nullable(text) },
  sql: `
    SELECT count(*)::int AS all, (count(*) FILTER (WHERE token_family = :family))::int AS share,
      (count(*) FILTER (WHERE message_id = :message))::int AS task,
      (SELECT o.id FROM hooks AS o WHERE o.message_id = :message AND o.config_id = :config) AS same
    FROM hooks WHERE message_id IS NOT NULL`,
});
const REMOVE_TOLD = statement({
  name: 'task_hooks.remove_told',
  params: { hours: integer, most: bigint },
  row: { id: text },
  sql: removeToldHooks('h.message_id IS NOT NULL'),
});
const HOOK = {
  ...{ id: text, url: text, secret: nullable(text), message: text, config: text },
  ...{ user: nullable(text), family: text, credential: nullable(text), origin: jsonb<unknown>() },
};
const INSERT = statement({
  name: 'task_hooks.insert',
  params: HOOK,
  row: { id: text },
  sql: `
    WITH made AS (
      INSERT INTO hooks (id, url, events, secret, user_id, token_family, made_with, message_id, config_id)
      VALUES (:id, :url, '{}', :secret, :user, :family, :credential, :message, :config) RETURNING id
    ), lane AS (
      INSERT INTO hook_lanes (hook_id) SELECT id FROM made
    ), audited AS (${auditedSql({
      ...{ action: 'hook.created', subject: 'id', origin: ':origin', from: 'made' },
      details: `jsonb_build_object('message_id', :message::text)`,
    })})
    SELECT id FROM made`,
});
/** Waiting notifications are sent to the current address. */
const REPLACE = statement({
  name: 'task_hooks.replace',
  params: HOOK,
  row: { id: text },
  sql: `
    WITH made AS (
      UPDATE hooks SET url = :url, secret = :secret, user_id = :user, token_family = :family, made_with = :credential, active = true, inactive_reason = NULL
      WHERE id = :id AND message_id = :message AND config_id = :config RETURNING id
    ), lane AS (
      UPDATE hook_lanes SET failing_since = NULL FROM made WHERE hook_id = made.id
    ), audited AS (${auditedSql({
      ...{ action: 'hook.created', subject: 'id', origin: ':origin', from: 'made' },
      details: `jsonb_build_object('message_id', :message::text)`,
    })})
    SELECT id FROM made`,
});
const TELL = statement({
  name: 'task_hooks.tell',
  params: { message: text, hook: text, session: text, turn: nullable(text), status: text },
  row: { deliveries: integer },
  sql: 'SELECT tell_of_task(:message, :hook, :session, :turn, :status) AS deliveries',
});
const LIST = statement({
  name: 'task_hooks.list',
  params: { message: text },
  row: { config_id: text, url: text },
  sql: `
    SELECT config_id, url FROM hooks
    WHERE message_id = :message AND inactive_reason IS DISTINCT FROM 'token_revoked'
    ORDER BY created_at, id`,
});
/** Without a name: all hooks of a message that began no task. */
const REMOVE = statement({
  name: 'task_hooks.remove',
  params: { message: text, config: nullable(text), origin: jsonb<unknown>() },
  row: { id: text },
  sql: `
    WITH gone AS (
      DELETE FROM hooks WHERE message_id = :message AND (config_id = :config
        OR :config::text IS NULL AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = :message)) RETURNING id
    ), lane AS (
      DELETE FROM hook_lanes USING gone WHERE hook_id = gone.id
    ), audited AS (${auditedSql({ action: 'hook.deleted', subject: 'id', origin: ':origin', from: 'gone' })})
    SELECT id FROM gone`,
});
const OVER: ReadonlySet<string> = new Set(['completed', 'cancelled', 'failed', 'interrupted']);
const MADE_ROOM_AT_ONCE = 1000;

/** Stores who is notified of which task, among the webhooks. */
@Injectable()
export class TaskHookStore {
  constructor(
    private readonly database: Database,
    private readonly secrets: HookSecrets,
    private readonly settings: Settings,
  ) {}

  /**
   * Replaces the hook of the same name. A hook for a task that is over is notified of that. Throws `TokenRevoked`.
   * @returns how many deliveries there are for it already, or the limit that is reached
   */
  put(terms: TaskHookTerms, quota: TaskHookQuota): Promise<number | FullQuota> {
    const { messageId, turnId, hook, maker } = terms;
    return this.database.transaction(async (runner) => {
      await holdToken(runner, maker);
      await runner.query(LOCK_REGISTRATIONS);
      const [turn] = await runner.query(LOCK_TURN, { turn: turnId ?? '' });
      const room = await this.roomFor(runner, terms, quota);
      if ('full' in room) return room.full;
      const id = room.same ?? newId('hook');
      const sealed = hook.secret === null ? null : this.secrets.seal(id, hook.secret);
      await runner.query(room.same === undefined ? INSERT : REPLACE, {
        ...{ id, url: hook.url, secret: sealed, message: messageId, config: hook.configId },
        ...{ user: maker.boundUserId, family: familyOf(maker), credential: maker.credential ?? null },
        origin: originJson(),
      });
      if (turn === undefined || !OVER.has(turn.status)) return 0;
      const { session_id: session, status } = turn;
      const told = { message: messageId, hook: id, session, turn: turnId ?? null, status };
      return (await runner.query(TELL, told))[0]?.deliveries ?? 0;
    });
  }

  /** Oldest first. */
  async list(messageId: string): Promise<TaskHook[]> {
    const rows = await this.database.query(LIST, { message: messageId });
    return rows.map(({ config_id: configId, url }) => ({ configId, url }));
  }

  /**
   * The ids of the deleted hooks.
   * @param configId null for all hooks of a message that began no task
   */
  async remove(messageId: string, configId: string | null): Promise<string[]> {
    const gone = await this.database.query(REMOVE, {
      ...{ message: messageId, config: configId, origin: originJson() },
    });
    return gone.map(({ id }) => id);
  }

  /** The hook that is replaced, or the limit that is reached even without the hooks that have nothing left to send. */
  private async roomFor(
    runner: SqlRunner,
    { messageId, hook, maker }: TaskHookTerms,
    { all, share, task }: TaskHookQuota,
  ): Promise<{ same: string | undefined } | { full: FullQuota }> {
    for (let hasCleaned = false; ; hasCleaned = true) {
      const counted = { family: familyOf(maker), message: messageId, config: hook.configId };
      const [used] = await runner.query(USED, counted);
      if (used?.same !== null) return { same: used?.same };
      if (used.task >= task) return { full: 'task' };
      const isShareFull = share > 0 && used.share >= share;
      if (used.all < all && !isShareFull) return { same: undefined };
      if (hasCleaned) return { full: isShareFull ? 'share' : 'all' };
      const hours = this.settings.current.hooks.retention_hours;
      await runner.query(REMOVE_TOLD, { hours, most: MADE_ROOM_AT_ONCE });
    }
  }
}
