import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { ADVISORY_LOCKS } from '../../platform/database/advisory-locks.js';
import { Database } from '../../platform/database/database.js';
import type { OnCommit, Statement } from '../../platform/database/sql.js';
import { familyOf } from '../../platform/tokens/caller.js';
import { holdToken } from '../../platform/tokens/token-endings.js';
import type { Hook, InactiveReason, NewHook } from './hook.js';
import { HookSecrets } from './hook-secrets.js';

interface HookRow {
  id: string;
  url: string;
  events: string[];
  active: boolean;
  inactive_reason: InactiveReason | null;
  created_at: Date;
}

const COLUMNS = 'id, url, events, active, inactive_reason, created_at';
/** A token bound to a user sees only hooks made by tokens bound to that user. */
const VISIBLE = 'message_id IS NULL AND ($1::text IS NULL OR user_id = $1)';

/** Upper limits for registration. */
export interface HookQuota {
  readonly most: number;
  /** For one token and its replacements; 0 for no separate limit. */
  readonly share: number;
}

/** One registration at a time, so that two cannot both get the last free slot. */
export const LOCK_REGISTRATIONS: Statement = {
  name: 'hooks.lock',
  text: `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.registeringHooks})`,
};
/** Counts hooks in use; those that ended with their token are only listed. */
const IN_USE = `SELECT count(*) FROM hooks WHERE message_id IS NULL AND inactive_reason IS DISTINCT FROM 'token_revoked'`;
const INSERT: Statement = {
  name: 'hooks.insert',
  text: `
    WITH made AS (
      INSERT INTO hooks (id, url, events, secret, user_id, token_family, made_with)
      SELECT $1, $2, $3, $4, $5, $7, $10
      WHERE (${IN_USE}) < $6 AND ($8::int = 0 OR (${IN_USE} AND token_family = $7) < $8::int) RETURNING ${COLUMNS}
    ), lane AS (
      INSERT INTO hook_lanes (hook_id) SELECT id FROM made
    ), audited AS (${auditedSql({
      ...{ action: 'hook.created', subject: 'id', origin: '$9', from: 'made' },
      details: `jsonb_build_object('events', events)`,
    })})
    SELECT ${COLUMNS} FROM made`,
};
const IS_FULL: Statement = { name: 'hooks.is_full', text: `SELECT (${IN_USE}) >= $1::int AS all` };
const LIST: Statement = {
  name: 'hooks.list',
  text: `SELECT ${COLUMNS} FROM hooks WHERE ${VISIBLE} ORDER BY created_at DESC, id DESC`,
};
const REMOVE: Statement = {
  name: 'hooks.remove',
  text: `
    WITH gone AS (DELETE FROM hooks WHERE id = $2 AND ${VISIBLE} RETURNING id),
    lane AS (DELETE FROM hook_lanes USING gone WHERE hook_id = gone.id),
    audited AS (${auditedSql({ action: 'hook.deleted', subject: 'id', origin: '$3', from: 'gone' })})
    SELECT id FROM gone`,
};
const ROTATE: Statement = {
  name: 'hooks.rotate',
  text: `
    WITH rotated AS (
      UPDATE hooks SET secret = $2, old_secret = secret, old_secret_until = now() + make_interval(secs => $3)
      WHERE id = $1 AND message_id IS NULL RETURNING id
    ), audited AS (${auditedSql({ action: 'hook.rotated', subject: 'id', origin: '$4', from: 'rotated' })})
    SELECT id FROM rotated`,
};

const ACTIVE: Statement = {
  name: 'hooks.active',
  text: 'SELECT id FROM hooks WHERE id = ANY ($1) AND active',
};

/** Stores webhooks. */
@Injectable()
export class HookStore {
  constructor(
    private readonly database: Database,
    private readonly secrets: HookSecrets,
  ) {}

  /**
   * Returns the hook, or the limit that is reached: `all` for `most` hooks, `share` for those of the maker's token.
   * `onCommit` runs in the same transaction. Throws `TokenRevoked` when the maker's token was revoked meanwhile.
   */
  insert(
    { url, events, secret, maker }: NewHook,
    { most, share }: HookQuota,
    onCommit?: OnCommit<Hook>,
  ): Promise<Hook | 'all' | 'share'> {
    const id = newId('hook');
    const sealed = secret === null ? null : this.secrets.seal(id, secret);
    return this.database.transaction(async (runner) => {
      await holdToken(runner, maker);
      await runner.query(LOCK_REGISTRATIONS);
      const made = [
        id,
        url,
        [...events],
        sealed,
        maker.boundUserId,
        most,
        familyOf(maker),
        share,
        originJson(),
        maker.credential ?? null,
      ];
      const [row] = await runner.query<HookRow>(INSERT, made);
      if (row === undefined) {
        const [full] = await runner.query<{ all: boolean }>(IS_FULL, [most]);
        return full?.all === true ? 'all' : 'share';
      }
      const hook = toHook(row);
      await onCommit?.(runner, hook);
      return hook;
    });
  }

  /** Newest first. `userId` null sees all. */
  async list(userId: string | null): Promise<Hook[]> {
    return (await this.database.query<HookRow>(LIST, [userId])).map(toHook);
  }

  /** Deletes the hook; its pending deliveries are not sent. False when there was none. */
  async remove(id: string, userId: string | null): Promise<boolean> {
    return (await this.database.query(REMOVE, [userId, id, originJson()])).length > 0;
  }

  /** Those of the given hooks that are still active; the others were deleted, given up, or ended with their token. */
  async activeAmong(hookIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ id: string }>(ACTIVE, [hookIds]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Signs with the new secret from now on, and also with the old one for `keepOldSecs`. False for an unknown hook. */
  async rotate(id: string, secret: string, keepOldSecs: number): Promise<boolean> {
    const values = [id, this.secrets.seal(id, secret), keepOldSecs, originJson()];
    return (await this.database.query(ROTATE, values)).length > 0;
  }
}

function toHook(row: HookRow): Hook {
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    active: row.active,
    inactiveReason: row.inactive_reason,
    createdAt: row.created_at,
  };
}
