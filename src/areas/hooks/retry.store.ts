import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { DELIVERY_COLUMNS, type Delivery, type DeliveryRow, toDelivery } from './delivery.js';

export interface RetryClaim {
  readonly most: number;
  /** So that the retries of one hook do not fill the places of all. */
  readonly maxPerHook: number;
  /** Hooks whose retries are on their way already. */
  readonly except: readonly string[];
  /** A claim that was not answered for so long is due again: its replica is gone. */
  readonly claimSecs: number;
  /** Whether of the hooks that nothing but failures came back from lately, or of the others. */
  readonly failing: boolean;
}

/** Whether any delivery is due again; one probe for each hook, as below. */
export const ANY_RETRY_DUE = `coalesce((
  SELECT true FROM hooks AS h WHERE h.active AND (
    SELECT true FROM hook_deliveries AS d
    WHERE d.hook_id = h.id AND d.status = 'pending' AND d.attempts > 0 AND d.next_attempt_at <= now() LIMIT 1) LIMIT 1), false)`;

/** `$1` most, `$2` most a hook, `$3` hooks to leave out, `$4` seconds until a claim is void, `$5` whether of failing hooks. */
const CLAIM: Statement = {
  name: 'hook_retries.claim',
  text: `
    WITH due AS (
      SELECT found.id FROM hooks AS h JOIN hook_lanes AS l ON l.hook_id = h.id CROSS JOIN LATERAL (
        SELECT id FROM hook_deliveries AS d
        WHERE d.hook_id = h.id AND d.status = 'pending' AND d.attempts > 0 AND d.next_attempt_at <= now()
        ORDER BY d.next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED
      ) AS found
      WHERE h.active AND h.id <> ALL ($3) AND (l.failing_since IS NOT NULL) = $5 LIMIT $1
    ), claimed AS (
      UPDATE hook_deliveries AS d SET next_attempt_at = now() + make_interval(secs => $4) FROM due
      WHERE d.id = due.id RETURNING d.*
    )
    SELECT ${DELIVERY_COLUMNS} FROM claimed AS d
    JOIN events AS e ON e.id = d.event_id JOIN hooks AS h ON h.id = d.hook_id`,
};
const DATA: Statement = {
  name: 'hook_deliveries.data',
  text: 'SELECT data::text AS data FROM events WHERE id = $1',
};

/** Deliveries whose time has come again; any replica takes them, in no order. */
@Injectable()
export class RetryStore {
  constructor(private readonly database: Database) {}

  async claim({ most, maxPerHook, except, claimSecs, failing }: RetryClaim): Promise<Delivery[]> {
    const values = [most, maxPerHook, except, claimSecs, failing];
    const rows = await this.database.query<DeliveryRow>(CLAIM, values);
    return rows.map(toDelivery);
  }

  /** The payload of an event, for those that are too large to come along with their delivery. */
  async dataOf(eventId: string): Promise<string> {
    const [row] = await this.database.query<{ data: string }>(DATA, [eventId]);
    if (row === undefined) throw new Error(`Event ${eventId} is gone.`);
    return row.data;
  }
}
