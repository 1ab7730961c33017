import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import {
  bigint,
  boolean,
  double,
  integer,
  jsonb,
  nullable,
  oneOf,
  type RowOf,
  text,
  timestamp,
} from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import type { DeliveryStatus } from './delivery.js';
import { HookDeliveryEntity, HookEntity, HookLaneEntity } from './hook.entity.js';
import type { InactiveReason } from './hook.js';
import { HookEnded, HookNotFound } from './hooks.errors.js';

export const HOOK_STATE = {
  ...columnsOf(HookEntity, 'id', 'url', 'active', 'createdAt'),
  inactive_reason: nullable(oneOf<InactiveReason>()),
  ...columnsOf(HookLaneEntity, 'failingSince'),
};
export const HOOK_OVERVIEW = {
  ...HOOK_STATE,
  ...columnsOf(HookEntity, 'events'),
  /** Deliveries that have not succeeded yet. */
  waiting: integer,
};
/** A webhook as operators see it. */
export type HookOverview = RowOf<typeof HOOK_OVERVIEW>;

export const DELIVERY_OVERVIEW = {
  ...columnsOf(HookDeliveryEntity, 'eventId', 'event', 'attempts', 'lastStatus', 'lastError'),
  ...columnsOf(HookDeliveryEntity, 'createdAt', 'nextAttemptAt'),
  ...{ sequence: nullable(double), status: oneOf<DeliveryStatus>() },
};
export type DeliveryOverview = RowOf<typeof DELIVERY_OVERVIEW>;

export interface ReplayRequest {
  readonly since: Date;
  readonly eventId: string | null;
  /** Includes deliveries that succeeded. */
  readonly delivered: boolean;
}

const OVERVIEW = statement({
  name: 'hook_admin.overview',
  params: {},
  row: HOOK_OVERVIEW,
  sql: `
    SELECT h.id, h.url, h.events, h.active, h.inactive_reason, l.failing_since, h.created_at,
      (SELECT count(*)::int FROM hook_deliveries AS d WHERE d.hook_id = h.id AND d.status = 'pending') AS waiting
    FROM hooks AS h LEFT JOIN hook_lanes AS l ON l.hook_id = h.id WHERE h.message_id IS NULL ORDER BY h.created_at DESC, h.id DESC`,
});
const FIND = statement({
  name: 'hook_admin.find',
  params: { hook: text },
  row: { active: boolean, inactive_reason: nullable(oneOf<InactiveReason>()) },
  sql: 'SELECT active, inactive_reason FROM hooks WHERE id = :hook',
});
const RECENT = statement({
  name: 'hook_admin.recent',
  params: { hook: text, status: nullable(oneOf<DeliveryStatus>()), most: bigint },
  row: DELIVERY_OVERVIEW,
  sql: `
    SELECT event_id, event, sequence::float8, status, attempts, last_status, last_error, created_at, next_attempt_at
    FROM hook_deliveries WHERE hook_id = :hook AND (:status::text IS NULL OR status = :status) ORDER BY id DESC LIMIT :most`,
});
const REACTIVATE = statement({
  name: 'hook_admin.reactivate',
  params: { hook: text, origin: jsonb<unknown>(), asked: jsonb<unknown>() },
  row: { id: text },
  sql: `
    WITH reactivated AS (
      UPDATE hooks SET active = true, inactive_reason = NULL
      WHERE id = :hook AND inactive_reason IS DISTINCT FROM 'token_revoked' RETURNING id
    ), lane AS (
      UPDATE hook_lanes SET failing_since = NULL FROM reactivated WHERE hook_id = reactivated.id
    ), audited AS (${auditedSql({
      ...{ action: 'delivery.replayed', subject: 'id', origin: ':origin', from: 'reactivated' },
      details: ':asked::jsonb',
    })})
    SELECT id FROM reactivated`,
});
/** Deliveries per statement. Keeps row locks short, so that outcomes do not wait for a replay. */
const REPLAYED_AT_ONCE = 1000;
/**
 * Resets deliveries to before their first attempt, with the same number and bytes, so that they are sent in order again.
 * Takes the oldest ones after `after`.
 */
const REPLAY = statement({
  name: 'hook_admin.replay',
  params: { hook: text, since: timestamp, event: nullable(text), delivered: boolean, after: bigint },
  row: { replayed: integer, last: nullable(text) },
  sql: `
    WITH found AS (
      SELECT id FROM hook_deliveries
      WHERE hook_id = :hook AND id > :after::int8 AND created_at >= :since AND (:event::text IS NULL OR event_id = :event)
        AND (status = 'failed' OR (status = 'pending' AND attempts > 0) OR (status = 'delivered' AND :delivered))
      ORDER BY id LIMIT ${REPLAYED_AT_ONCE} FOR UPDATE
    ), again AS (
      UPDATE hook_deliveries AS d SET status = 'pending', attempts = 0, next_attempt_at = NULL, done_at = NULL
      FROM found WHERE d.id = found.id RETURNING d.id
    )
    SELECT count(*)::int AS replayed, max(id)::text AS last FROM again`,
});
const PING = statement({
  name: 'hook_admin.ping',
  params: { hook: text, event: text },
  row: { id: bigint },
  sql: `
    WITH queued AS (
      INSERT INTO events (id, name, occurred_at, data)
      SELECT :event, 'hook.ping', clock_timestamp(), json_build_object('hook_id', id) FROM hooks WHERE id = :hook AND active AND message_id IS NULL
      RETURNING id
    )
    INSERT INTO hook_deliveries (hook_id, event_id, event) SELECT :hook, id, 'hook.ping' FROM queued RETURNING id`,
});
const DELIVERY = statement({
  name: 'hook_admin.delivery',
  params: { event: text, hook: text },
  row: DELIVERY_OVERVIEW,
  sql: `
    SELECT event_id, event, sequence::float8, status, attempts, last_status, last_error, created_at, next_attempt_at
    FROM hook_deliveries WHERE event_id = :event AND hook_id = :hook`,
});

/** Looks up, replays and tests webhooks, for operators. */
@Injectable()
export class HookAdmin {
  constructor(private readonly database: Database) {}

  /** All webhooks, newest first. */
  overview(): Promise<HookOverview[]> {
    return this.database.query(OVERVIEW);
  }

  /** Whether a hook is active, and if not, why; undefined for an unknown one. */
  async find(hookId: string): Promise<Pick<HookOverview, 'active' | 'inactive_reason'> | undefined> {
    return (await this.database.query(FIND, { hook: hookId }))[0];
  }

  /** The newest deliveries of a hook, newest first. */
  recent(hookId: string, status: DeliveryStatus | null, limit: number): Promise<DeliveryOverview[]> {
    return this.database.query(RECENT, { hook: hookId, status, most: limit });
  }

  /**
   * Queues failed deliveries and those that wait for a retry again, and reactivates the hook.
   * @returns how many deliveries. Throws `HookNotFound`, and `HookEnded` for one that ended with its token.
   */
  async replay(hookId: string, { since, eventId, delivered }: ReplayRequest): Promise<number> {
    const asked = JSON.stringify({ since: since.toISOString(), event_id: eventId, delivered });
    const reactivated = await this.database.query(REACTIVATE, { hook: hookId, origin: originJson(), asked });
    if (reactivated.length === 0)
      throw (await this.find(hookId)) === undefined ? new HookNotFound() : new HookEnded();
    let total = 0;
    for (let after = '0'; ; ) {
      const terms = { hook: hookId, since, event: eventId, delivered, after };
      const [row] = await this.database.query(REPLAY, terms);
      total += row?.replayed ?? 0;
      if (row === undefined || row.last === null) return total;
      after = row.last;
    }
  }

  /** Queues a `hook.ping` behind the waiting deliveries. @returns its event id; undefined if the hook is not active */
  async ping(hookId: string): Promise<string | undefined> {
    const eventId = newId('evt');
    return (await this.database.query(PING, { hook: hookId, event: eventId })).length === 0
      ? undefined
      : eventId;
  }

  async delivery(eventId: string, hookId: string): Promise<DeliveryOverview | undefined> {
    return (await this.database.query(DELIVERY, { event: eventId, hook: hookId }))[0];
  }
}
