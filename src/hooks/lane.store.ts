import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Statement } from '../database/sql.js';
import { ReplicaId } from '../lifecycle/replica-id.js';
import { byHook, DELIVERY_COLUMNS, type Delivery, type DeliveryRow, toDelivery } from './delivery.js';

/** A lane that is not renewed for so long is free for other replicas. */
export const LANE_LEASE_SECS = 10;

const LEASE_END = `now() + interval '${LANE_LEASE_SECS} seconds'`;
const UNSENT = `status = 'pending' AND attempts = 0`;

export interface TakenLane {
  readonly hookId: string;
  /** Whether nothing but failures came back lately. */
  readonly failing: boolean;
}

export interface ClaimingLane {
  readonly hookId: string;
  /** The last number of those that were claimed and are not written down yet; 0 without any. */
  readonly after: number;
}

/**
 * `$1` this replica, `$2` most lanes, `$3` whether failing hooks may have one. Those that work come first. A probe for each
 * free lane: an EXISTS would be turned into a join that reads all that is unsent, however much dead receivers let grow.
 */
const TAKE: Statement = {
  name: 'hook_lanes.take',
  text: `
    UPDATE hook_lanes SET owner = $1, lease_until = ${LEASE_END} WHERE hook_id IN (
      SELECT l.hook_id FROM hook_lanes AS l JOIN hooks AS h ON h.id = l.hook_id AND h.active
      WHERE (l.owner IS NULL OR l.lease_until <= now()) AND (l.failing_since IS NULL OR $3::boolean)
        AND (SELECT true FROM hook_deliveries AS d WHERE d.hook_id = l.hook_id AND ${UNSENT} LIMIT 1)
      ORDER BY l.failing_since IS NOT NULL, l.lease_until NULLS FIRST LIMIT $2 FOR UPDATE OF l SKIP LOCKED
    ) RETURNING hook_id, failing_since IS NOT NULL AS failing`,
};

/**
 * The next deliveries of lanes (`$2`) that this replica (`$1`) holds, at most `$3` each, after those it was given
 * before (up to the numbers `$4`). What has no number yet
 * gets the next ones: in one place, one holder at a time, so there are no gaps and no two alike, and no writer of
 * events waits for another. A statement of its own after TAKE, so that it sees what the holder before wrote.
 */
const NEXT: Statement = {
  name: 'hook_lanes.next',
  text: `
    WITH held AS (
      SELECT l.hook_id, l.sequence, asked.after
      FROM hook_lanes AS l JOIN unnest($2::text[], $4::int8[]) AS asked (hook_id, after) ON asked.hook_id = l.hook_id
      WHERE l.owner = $1 AND l.lease_until > now() ORDER BY l.hook_id FOR UPDATE OF l
    ), picked AS (
      SELECT found.id, found.hook_id, found.event_id, found.event, found.attempts,
        coalesce(found.sequence, held.sequence + row_number()
          OVER (PARTITION BY found.hook_id, found.sequence IS NULL ORDER BY found.id)) AS sequence
      FROM held CROSS JOIN LATERAL (
        SELECT id, hook_id, sequence, event_id, event, attempts FROM hook_deliveries AS d
        WHERE d.hook_id = held.hook_id AND ${UNSENT} AND (d.sequence IS NULL OR d.sequence > held.after)
        ORDER BY d.sequence, d.id LIMIT $3
      ) AS found
    ), numbered AS (
      UPDATE hook_deliveries AS d SET sequence = picked.sequence FROM picked
      WHERE d.id = picked.id AND d.sequence IS NULL
    ), moved AS (
      UPDATE hook_lanes AS l SET sequence = top.sequence
      FROM (SELECT hook_id, max(sequence) AS sequence FROM picked GROUP BY hook_id) AS top
      WHERE l.hook_id = top.hook_id AND l.sequence < top.sequence
    )
    SELECT ${DELIVERY_COLUMNS} FROM picked AS d
    JOIN events AS e ON e.id = d.event_id JOIN hooks AS h ON h.id = d.hook_id AND h.active
    ORDER BY d.hook_id, d.sequence`,
};

const RENEW: Statement = {
  name: 'hook_lanes.renew',
  text: `
    UPDATE hook_lanes SET lease_until = ${LEASE_END} FROM hooks
    WHERE hook_id = ANY ($2) AND owner = $1 AND hooks.id = hook_id AND hooks.active RETURNING hook_id`,
};

const RELEASE: Statement = {
  name: 'hook_lanes.release',
  text: `
    UPDATE hook_lanes AS l SET owner = NULL WHERE hook_id = ANY ($2) AND owner = $1
    RETURNING EXISTS (SELECT 1 FROM hook_deliveries AS d WHERE d.hook_id = l.hook_id AND ${UNSENT}) AS unsent`,
};

/** Who makes the first attempts of which hook: one replica at a time, in the order of the numbers it gives. */
@Injectable()
export class LaneStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** Takes free lanes with something to send. */
  async take(most: number, alsoFailing: boolean): Promise<TakenLane[]> {
    const values = [this.replica.value, most, alsoFailing];
    const rows = await this.database.query<{ hook_id: string; failing: boolean }>(TAKE, values);
    return rows.map(({ hook_id: hookId, failing }) => ({ hookId, failing }));
  }

  /** The next deliveries of each lane, in order; nothing for lanes that are empty, lost or without an active hook. */
  async next(lanes: readonly ClaimingLane[], mostEach: number): Promise<Map<string, Delivery[]>> {
    const [hookIds, after] = [lanes.map(({ hookId }) => hookId), lanes.map((lane) => lane.after)];
    const rows = await this.database.query<DeliveryRow>(NEXT, [this.replica.value, hookIds, mostEach, after]);
    return byHook(rows.map(toDelivery));
  }

  /** @returns the lanes that are still this replica's */
  async renew(hookIds: readonly string[]): Promise<Set<string>> {
    const rows = await this.database.query<{ hook_id: string }>(RENEW, [this.replica.value, hookIds]);
    return new Set(rows.map(({ hook_id: hookId }) => hookId));
  }

  /** @returns whether one of them got something to send in the meantime */
  async release(hookIds: readonly string[]): Promise<boolean> {
    const rows = await this.database.query<{ unsent: boolean }>(RELEASE, [this.replica.value, hookIds]);
    return rows.some(({ unsent }) => unsent);
  }
}
