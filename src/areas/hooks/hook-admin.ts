import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { originJson } from '../../platform/audit-log/audit-log.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import type { DeliveryStatus } from './delivery.js';

/** A webhook as operators see it. */
export interface HookOverview {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly active: boolean;
  readonly inactive_reason: string | null;
  /** Since when every attempt failed. */
  readonly failing_since: Date | null;
  /** Deliveries that have not succeeded yet. */
  readonly waiting: number;
  readonly created_at: Date;
}

export interface DeliveryOverview {
  readonly event_id: string;
  readonly event: string;
  readonly sequence: number | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly next_attempt_at: Date | null;
}

export interface ReplayRequest {
  readonly since: Date;
  readonly eventId: string | null;
  /** Includes deliveries that succeeded. */
  readonly delivered: boolean;
}

const OVERVIEW: Statement = {
  name: 'hook_admin.overview',
  text: `
    SELECT h.id, h.url, h.events, h.active, h.inactive_reason, l.failing_since, h.created_at,
      (SELECT count(*)::int FROM hook_deliveries AS d WHERE d.hook_id = h.id AND d.status = 'pending') AS waiting
    FROM hooks AS h LEFT JOIN hook_lanes AS l ON l.hook_id = h.id WHERE h.message_id IS NULL ORDER BY h.created_at DESC, h.id DESC`,
};
const FIND: Statement = {
  name: 'hook_admin.find',
  text: 'SELECT active, inactive_reason FROM hooks WHERE id = $1',
};
const RECENT: Statement = {
  name: 'hook_admin.recent',
  text: `
    SELECT event_id, event, sequence::float8, status, attempts, last_status, last_error, created_at, next_attempt_at
    FROM hook_deliveries WHERE hook_id = $1 AND ($2::text IS NULL OR status = $2) ORDER BY id DESC LIMIT $3`,
};
const REACTIVATE: Statement = {
  name: 'hook_admin.reactivate',
  text: `
    WITH reactivated AS (
      UPDATE hooks SET active = true, inactive_reason = NULL
      WHERE id = $1 AND inactive_reason IS DISTINCT FROM 'token_revoked' RETURNING id
    ), lane AS (
      UPDATE hook_lanes SET failing_since = NULL FROM reactivated WHERE hook_id = reactivated.id
    ), audited AS (${auditedSql({
      ...{ action: 'delivery.replayed', subject: 'id', origin: '$2', from: 'reactivated' },
      details: '$3::jsonb',
    })})
    SELECT id FROM reactivated`,
};
/** Deliveries per statement. Keeps row locks short, so that outcomes do not wait for a replay. */
const REPLAYED_AT_ONCE = 1000;
/**
 * Resets deliveries to before their first attempt, with the same number and bytes, so that they are sent in order again.
 * Takes the oldest ones after id `$5`.
 */
const REPLAY: Statement = {
  name: 'hook_admin.replay',
  text: `
    WITH found AS (
      SELECT id FROM hook_deliveries
      WHERE hook_id = $1 AND id > $5::int8 AND created_at >= $2 AND ($3::text IS NULL OR event_id = $3)
        AND (status = 'failed' OR (status = 'pending' AND attempts > 0) OR (status = 'delivered' AND $4))
      ORDER BY id LIMIT ${REPLAYED_AT_ONCE} FOR UPDATE
    ), again AS (
      UPDATE hook_deliveries AS d SET status = 'pending', attempts = 0, next_attempt_at = NULL, done_at = NULL
      FROM found WHERE d.id = found.id RETURNING d.id
    )
    SELECT count(*)::int AS replayed, max(id)::text AS last FROM again`,
};
const PING: Statement = {
  name: 'hook_admin.ping',
  text: `
    WITH queued AS (
      INSERT INTO events (id, name, occurred_at, data)
      SELECT $2, 'hook.ping', clock_timestamp(), json_build_object('hook_id', id) FROM hooks WHERE id = $1 AND active AND message_id IS NULL
      RETURNING id
    )
    INSERT INTO hook_deliveries (hook_id, event_id, event) SELECT $1, id, 'hook.ping' FROM queued RETURNING id`,
};
const DELIVERY: Statement = {
  name: 'hook_admin.delivery',
  text: `
    SELECT event_id, event, sequence::float8, status, attempts, last_status, last_error, created_at, next_attempt_at
    FROM hook_deliveries WHERE event_id = $1 AND hook_id = $2`,
};

/** Looks up, replays and tests webhooks, for operators. */
@Injectable()
export class HookAdmin {
  constructor(private readonly database: Database) {}

  /** All webhooks, newest first. */
  overview(): Promise<HookOverview[]> {
    return this.database.query<HookOverview>(OVERVIEW);
  }

  /** Whether a hook is active, and if not, why; undefined for an unknown one. */
  async find(hookId: string): Promise<Pick<HookOverview, 'active' | 'inactive_reason'> | undefined> {
    return (await this.database.query<Pick<HookOverview, 'active' | 'inactive_reason'>>(FIND, [hookId]))[0];
  }

  /** The newest deliveries of a hook, newest first. */
  recent(hookId: string, status: DeliveryStatus | null, limit: number): Promise<DeliveryOverview[]> {
    return this.database.query<DeliveryOverview>(RECENT, [hookId, status, limit]);
  }

  /**
   * Queues failed deliveries and those that wait for a retry again, and reactivates the hook.
   * @returns how many deliveries; undefined for an unknown hook, and for one that ended with its token
   */
  async replay(hookId: string, { since, eventId, delivered }: ReplayRequest): Promise<number | undefined> {
    const asked = JSON.stringify({ since: since.toISOString(), event_id: eventId, delivered });
    const reactivated = await this.database.query(REACTIVATE, [hookId, originJson(), asked]);
    if (reactivated.length === 0) return undefined;
    let total = 0;
    for (let after = '0'; ; ) {
      const values = [hookId, since, eventId, delivered, after];
      const [row] = await this.database.query<{ replayed: number; last: string | null }>(REPLAY, values);
      total += row?.replayed ?? 0;
      if (row === undefined || row.last === null) return total;
      after = row.last;
    }
  }

  /** Queues a `hook.ping` behind the waiting deliveries. @returns its event id; undefined if the hook is not active */
  async ping(hookId: string): Promise<string | undefined> {
    const eventId = newId('evt');
    return (await this.database.query(PING, [hookId, eventId])).length === 0 ? undefined : eventId;
  }

  async delivery(eventId: string, hookId: string): Promise<DeliveryOverview | undefined> {
    return (await this.database.query<DeliveryOverview>(DELIVERY, [eventId, hookId]))[0];
  }
}
