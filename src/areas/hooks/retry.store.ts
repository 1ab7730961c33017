import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { arrayOf, bigint, boolean, double, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { dueQuestion } from '../../platform/runtime/due-question.js';
import { CLAIMED_DELIVERY, DELIVERY_COLUMNS, type Delivery, toDelivery } from './delivery.js';

export interface RetryClaim {
  readonly most: number;
  /** Limit per hook, so that one hook does not occupy all slots. */
  readonly maxPerHook: number;
  /** Hooks whose retries are being sent already. */
  readonly except: readonly string[];
  /** A claim without an outcome is due again after this many seconds: its replica is gone. */
  readonly claimSecs: number;
  /** Whether to claim for hooks that are failing, or for the others. */
  readonly failing: boolean;
}

/** Whether any retry is due; one index probe per hook, as below. */
export const ANY_RETRY_DUE = dueQuestion({
  name: 'hooks_retry',
  params: {},
  answer: boolean,
  sql: `coalesce((
    SELECT true FROM hooks AS h WHERE h.active AND (
      SELECT true FROM hook_deliveries AS d
      WHERE d.hook_id = h.id AND d.status = 'pending' AND d.attempts > 0 AND d.next_attempt_at <= now() LIMIT 1) LIMIT 1), false)`,
});

const CLAIM = statement({
  name: 'hook_retries.claim',
  params: { most: bigint, most_of_hook: bigint, except: arrayOf(text), claim_secs: double, failing: boolean },
  row: CLAIMED_DELIVERY,
  sql: `
    WITH due AS (
      SELECT found.id FROM hooks AS h JOIN hook_lanes AS l ON l.hook_id = h.id CROSS JOIN LATERAL (
        SELECT id FROM hook_deliveries AS d
        WHERE d.hook_id = h.id AND d.status = 'pending' AND d.attempts > 0 AND d.next_attempt_at <= now()
        ORDER BY d.next_attempt_at LIMIT :most_of_hook FOR UPDATE SKIP LOCKED
      ) AS found
      WHERE h.active AND h.id <> ALL (:except) AND (l.failing_since IS NOT NULL) = :failing LIMIT :most
    ), claimed AS (
      UPDATE hook_deliveries AS d SET next_attempt_at = now() + make_interval(secs => :claim_secs) FROM due
      WHERE d.id = due.id RETURNING d.*
    )
    SELECT ${DELIVERY_COLUMNS} FROM claimed AS d
    JOIN events AS e ON e.id = d.event_id JOIN hooks AS h ON h.id = d.hook_id`,
});
const DATA = statement({
  name: 'hook_deliveries.data',
  params: { id: text },
  row: { data: text },
  sql: 'SELECT data::text AS data FROM events WHERE id = :id',
});

/** Deliveries that are due for a retry; any replica claims them, in any order. */
@Injectable()
export class RetryStore {
  constructor(private readonly database: Database) {}

  async claim({ most, maxPerHook, except, claimSecs, failing }: RetryClaim): Promise<Delivery[]> {
    const limits = { most, most_of_hook: maxPerHook, claim_secs: claimSecs };
    const rows = await this.database.query(CLAIM, { ...limits, except, failing });
    return rows.map(toDelivery);
  }

  /** The payload of an event that is too large to be read with its claim. */
  async dataOf(eventId: string): Promise<string> {
    const [row] = await this.database.query(DATA, { id: eventId });
    if (row === undefined) throw new Error(`Event ${eventId} is gone.`);
    return row.data;
  }
}
