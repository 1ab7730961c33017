import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { ADVISORY_LOCKS } from '../../platform/database/advisory-locks.js';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import type { OnCommit } from '../../platform/database/sql.js';
import {
  arrayOf,
  bigint,
  boolean,
  double,
  integer,
  jsonb,
  nullable,
  oneOf,
  type RowOf,
  text,
} from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { familyOf } from '../../platform/tokens/caller.js';
import { holdToken } from '../../platform/tokens/token-endings.js';
import { HookEntity } from './hook.entity.js';
import type { Hook, InactiveReason, NewHook } from './hook.js';
import { HookSecrets } from './hook-secrets.js';

const HOOK = {
  ...columnsOf(HookEntity, 'id', 'url', 'events', 'active', 'createdAt'),
  inactive_reason: nullable(oneOf<InactiveReason>()),
};

const COLUMNS = 'id, url, events, active, inactive_reason, created_at';
/** A token bound to a user sees only hooks made by tokens bound to that user. */
const VISIBLE = 'message_id IS NULL AND (:user::text IS NULL OR user_id = :user)';

/** Upper limits for registration. */
export interface HookQuota {
  readonly most: number;
  /** For one token and its replacements; 0 for no separate limit. */
  readonly share: number;
}

/** One registration at a time, so that two cannot both get the last free slot. */
export const LOCK_REGISTRATIONS = statement({
  name: 'hooks.lock',
  params: {},
  row: {},
  sql: `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.registeringHooks})`,
});
/** Counts hooks in use; those that ended with their token are only listed. */
const IN_USE = `SELECT count(*) FROM hooks WHERE message_id IS NULL AND inactive_reason IS DISTINCT FROM 'token_revoked'`;
const INSERT = statement({
  name: 'hooks.insert',
  params: {
    id: text,
    url: text,
    events: arrayOf(text),
    secret: nullable(text),
    user: nullable(text),
    most: bigint,
    family: text,
    share: integer,
    origin: jsonb<unknown>(),
    credential: nullable(text),
  },
  row: HOOK,
  sql: `
    WITH made AS (
      INSERT INTO hooks (id, url, events, secret, user_id, token_family, made_with)
      SELECT :id, :url, :events, :secret, :user, :family, :credential
      WHERE (${IN_USE}) < :most AND (:share::int = 0 OR (${IN_USE} AND token_family = :family) < :share::int) RETURNING ${COLUMNS}
    ), lane AS (
      INSERT INTO hook_lanes (hook_id) SELECT id FROM made
    ), audited AS (${auditedSql({
      ...{ action: 'hook.created', subject: 'id', origin: ':origin', from: 'made' },
      details: `jsonb_build_object('events', events)`,
    })})
    SELECT ${COLUMNS} FROM made`,
});
const IS_FULL = statement({
  name: 'hooks.is_full',
  params: { most: integer },
  row: { all: boolean },
  sql: `SELECT (${IN_USE}) >= :most::int AS all`,
});
const LIST = statement({
  name: 'hooks.list',
  params: { user: nullable(text) },
  row: HOOK,
  sql: `SELECT ${COLUMNS} FROM hooks WHERE ${VISIBLE} ORDER BY created_at DESC, id DESC`,
});
const REMOVE = statement({
  name: 'hooks.remove',
  params: { user: nullable(text), id: text, origin: jsonb<unknown>() },
  row: { id: text },
  sql: `
    WITH gone AS (DELETE FROM hooks WHERE id = :id AND ${VISIBLE} RETURNING id),
    lane AS (DELETE FROM hook_lanes USING gone WHERE hook_id = gone.id),
    audited AS (${auditedSql({ action: 'hook.deleted', subject: 'id', origin: ':origin', from: 'gone' })})
    SELECT id FROM gone`,
});
const ROTATE = statement({
  name: 'hooks.rotate',
  params: { id: text, secret: text, keep_secs: double, origin: jsonb<unknown>() },
  row: { id: text },
  sql: `
    WITH rotated AS (
      UPDATE hooks SET secret = :secret, old_secret = secret, old_secret_until = now() + make_interval(secs => :keep_secs)
      WHERE id = :id AND message_id IS NULL RETURNING id
    ), audited AS (${auditedSql({ action: 'hook.rotated', subject: 'id', origin: ':origin', from: 'rotated' })})
    SELECT id FROM rotated`,
});

const ACTIVE = statement({
  name: 'hooks.active',
  params: { ids: arrayOf(text) },
  row: { id: text },
  sql: 'SELECT id FROM hooks WHERE id = ANY (:ids) AND active',
});

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
      const [row] = await runner.query(INSERT, {
        ...{ id, url, events, secret: sealed, most, share, origin: originJson() },
        ...{ user: maker.boundUserId, family: familyOf(maker), credential: maker.credential ?? null },
      });
      if (row === undefined) {
        const [full] = await runner.query(IS_FULL, { most });
        return full?.all === true ? 'all' : 'share';
      }
      const hook = toHook(row);
      await onCommit?.(runner, hook);
      return hook;
    });
  }

  /** Newest first. `userId` null sees all. */
  async list(userId: string | null): Promise<Hook[]> {
    return (await this.database.query(LIST, { user: userId })).map(toHook);
  }

  /** Deletes the hook; its pending deliveries are not sent. False when there was none. */
  async remove(id: string, userId: string | null): Promise<boolean> {
    const gone = await this.database.query(REMOVE, { id, user: userId, origin: originJson() });
    return gone.length > 0;
  }

  /** Those of the given hooks that are still active; the others were deleted, given up, or ended with their token. */
  async activeAmong(hookIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query(ACTIVE, { ids: hookIds });
    return new Set(rows.map(({ id }) => id));
  }

  /** Signs with the new secret from now on, and also with the old one for `keepOldSecs`. False for an unknown hook. */
  async rotate(id: string, secret: string, keepOldSecs: number): Promise<boolean> {
    const sealed = this.secrets.seal(id, secret);
    const rotated = await this.database.query(ROTATE, {
      ...{ id, secret: sealed, keep_secs: keepOldSecs, origin: originJson() },
    });
    return rotated.length > 0;
  }
}

function toHook(row: RowOf<typeof HOOK>): Hook {
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    active: row.active,
    inactiveReason: row.inactive_reason,
    createdAt: row.created_at,
  };
}
