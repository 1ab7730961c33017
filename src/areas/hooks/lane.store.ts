import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { arrayOf, bigint, boolean, double, nullable, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { dueQuestion } from '../../platform/runtime/due-question.js';
import { byHook, CLAIMED_DELIVERY, DELIVERY_COLUMNS, type Delivery, toDelivery } from './delivery.js';
import { LANES_LEFT, LaneOwner } from './lane-owner.js';

/**
 * A lane that is not renewed for this long is free for other replicas: the longest that a replica which dies without
 * notice delays a hook. A living one renews three times within it; one that is held up for longer may send something twice.
 */
export const LANE_LEASE_SECS = 1.75;
/** Lane statements that take longer are given up: this one may hang, and the next may not. */
const TIMEOUT_MS = 5000;

const LEASE_END = `now() + interval '${LANE_LEASE_SECS} seconds'`;
const UNSENT = `status = 'pending' AND attempts = 0`;

export interface ClaimedLane {
  readonly hookId: string;
  /** Whether every attempt since the last success has failed. */
  readonly failing: boolean;
}

/** The result of a claim for lanes. */
export interface FoundLanes {
  readonly claimed: readonly ClaimedLane[];
  /** Milliseconds until a lane of another replica with something to send is free unless it is renewed; null without one. */
  readonly freeInMs: number | null;
}

/** The result of a claim for deliveries. A lane in neither field is locked by another statement, or no longer held. */
export interface NextDeliveries {
  readonly deliveries: ReadonlyMap<string, Delivery[]>;
  /** The lanes that were looked at. */
  readonly seen: ReadonlySet<string>;
}

/** The result of a renewal. A lane in neither field is lost. */
export interface RenewedLanes {
  readonly renewed: ReadonlySet<string>;
  /** Still this replica's, but locked by another statement: its lease runs on. */
  readonly locked: ReadonlySet<string>;
}

export interface ClaimingLane {
  readonly hookId: string;
  /** The number of the last claimed delivery while any outcome is not stored yet; 0 otherwise. */
  readonly after: number;
}

/** Reads one row. PostgreSQL would turn an EXISTS into a join over everything unsent, which dead receivers let grow. */
const HAS_UNSENT = `(SELECT true FROM hook_deliveries AS d WHERE d.hook_id = l.hook_id AND ${UNSENT} LIMIT 1)`;

/** Whether any lane has something to send, whichever replica holds it: its owner may be gone, or not know that it holds it. */
export const ANY_UNSENT = dueQuestion({
  name: 'hooks_unsent',
  params: {},
  answer: boolean,
  sql: `coalesce((
    SELECT true FROM hook_lanes AS l JOIN hooks AS h ON h.id = l.hook_id AND h.active
    WHERE ${HAS_UNSENT} LIMIT 1), false)`,
});

const MINE = `l.owner = ANY (:names::text[])`;
const OTHERS = `l.owner <> ALL (:names::text[])`;
const MY_NAME = `(:names::text[])[1]`;
/**
 * An owner whose name contains the key of a lock that no one holds is dead. Only then does this take the lock, shared and
 * until the statement ends, so that no one waits for it.
 */
const DEAD = `coalesce(pg_try_advisory_xact_lock_shared(substring(l.owner FROM '#([0-9]{1,15})$')::int8), false)`;

/**
 * Working hooks come first. A lane that this replica holds without knowing it (the answer to a statement was lost, or a
 * release failed) is free for it at once.
 */
const CLAIM = statement({
  name: 'hook_lanes.claim',
  params: { names: arrayOf(text), most: bigint, failing: boolean, known: arrayOf(text), others: boolean },
  row: { hook_id: nullable(text), failing: nullable(boolean), free_in_ms: nullable(double) },
  replanned: true,
  timeoutMs: TIMEOUT_MS,
  sql: `
    WITH free AS (
      SELECT l.hook_id FROM hook_lanes AS l JOIN hooks AS h ON h.id = l.hook_id AND h.active
      WHERE (l.owner IS NULL OR l.lease_until <= now() OR (${MINE} AND l.hook_id <> ALL (:known)) OR (${OTHERS} AND ${DEAD}))
        AND (l.failing_since IS NULL OR :failing::boolean) AND ${HAS_UNSENT}
      ORDER BY l.failing_since IS NOT NULL, l.lease_until NULLS FIRST LIMIT :most FOR UPDATE OF l SKIP LOCKED
    ), claimed AS (
      UPDATE hook_lanes AS l SET owner = ${MY_NAME}, lease_until = ${LEASE_END} FROM free WHERE l.hook_id = free.hook_id
      RETURNING l.hook_id, l.failing_since IS NOT NULL AS failing
    )
    SELECT hook_id, failing, NULL::float8 AS free_in_ms FROM claimed
    UNION ALL
    SELECT NULL, NULL, extract(epoch FROM min(l.lease_until) - now())::float8 * 1000
    FROM hook_lanes AS l JOIN hooks AS h ON h.id = l.hook_id AND h.active
    WHERE :others::boolean AND ${OTHERS} AND l.lease_until > now() AND ${HAS_UNSENT}
    HAVING count(*) > 0`,
});

/**
 * The next deliveries of lanes that this replica holds, with numbers above `after`, up to which it has them already.
 * Deliveries without a number get the next ones: here alone, by one holder at a time, so that there are no gaps and no
 * duplicates, and no writer of events waits for another. It is a statement of its own after CLAIM, so that it sees what
 * the previous holder wrote. A lane that another statement has locked (a large replay, the
 * outcomes of a previous holder) is passed over, so that the others do not wait for it. A lane that was looked at has a
 * row without a delivery. Those rows come from a UNION: given a join, PostgreSQL, which expects one row of each side,
 * searched everything found once for each lane.
 */
const NEXT = statement({
  name: 'hook_lanes.next',
  params: { names: arrayOf(text), hooks: arrayOf(text), most: bigint, after: arrayOf(bigint) },
  // Without a delivery, all but the lane is null.
  row: { lane: text, ...CLAIMED_DELIVERY, id: nullable(text) },
  replanned: true,
  timeoutMs: TIMEOUT_MS,
  sql: `
    WITH held AS (
      SELECT l.hook_id, l.sequence, asked.after
      FROM hook_lanes AS l JOIN unnest(:hooks::text[], :after::int8[]) AS asked (hook_id, after) ON asked.hook_id = l.hook_id
      WHERE ${MINE} AND l.lease_until > now() FOR UPDATE OF l SKIP LOCKED
    ), picked AS (
      SELECT found.id, found.hook_id, found.event_id, found.event, found.attempts,
        coalesce(found.sequence, held.sequence + row_number()
          OVER (PARTITION BY found.hook_id, found.sequence IS NULL ORDER BY found.id)) AS sequence
      FROM held CROSS JOIN LATERAL (
        SELECT id, hook_id, sequence, event_id, event, attempts FROM hook_deliveries AS d
        WHERE d.hook_id = held.hook_id AND ${UNSENT} AND (d.sequence IS NULL OR d.sequence > held.after)
        ORDER BY d.sequence, d.id LIMIT :most
      ) AS found
    ), numbered AS (
      UPDATE hook_deliveries AS d SET sequence = picked.sequence FROM picked
      WHERE d.id = picked.id AND d.sequence IS NULL
    ), moved AS (
      UPDATE hook_lanes AS l SET sequence = top.sequence
      FROM (SELECT hook_id, max(sequence) AS sequence FROM picked GROUP BY hook_id) AS top
      WHERE l.hook_id = top.hook_id AND l.sequence < top.sequence
    ), found AS MATERIALIZED (
      SELECT ${DELIVERY_COLUMNS} FROM picked AS d
      JOIN events AS e ON e.id = d.event_id JOIN hooks AS h ON h.id = d.hook_id AND h.active
    )
    SELECT found.hook_id AS lane, found.* FROM found
    UNION ALL SELECT held.hook_id, found.* FROM held LEFT JOIN found ON false
    ORDER BY lane, sequence`,
});

const RENEW = statement({
  name: 'hook_lanes.renew',
  params: { names: arrayOf(text), hooks: arrayOf(text) },
  row: { hook_id: text, renewed: boolean },
  timeoutMs: TIMEOUT_MS,
  sql: `
    WITH mine AS (
      SELECT l.hook_id FROM hook_lanes AS l JOIN hooks AS h ON h.id = l.hook_id AND h.active
      WHERE l.hook_id = ANY (:hooks) AND ${MINE}
    ), unlocked AS (
      SELECT l.hook_id FROM hook_lanes AS l
      WHERE l.hook_id IN (SELECT hook_id FROM mine) AND ${MINE} FOR UPDATE OF l SKIP LOCKED
    ), renewed AS (
      UPDATE hook_lanes AS l SET owner = ${MY_NAME}, lease_until = ${LEASE_END} FROM unlocked WHERE l.hook_id = unlocked.hook_id
      RETURNING l.hook_id
    )
    SELECT mine.hook_id, renewed.hook_id IS NOT NULL AS renewed
    FROM mine LEFT JOIN renewed ON renewed.hook_id = mine.hook_id`,
});

/** Does not wait for a lane that another statement has locked: this replica keeps it and claims it when it is needed. */
const RELEASE = statement({
  name: 'hook_lanes.release',
  params: { names: arrayOf(text), hooks: arrayOf(text), notify: boolean },
  row: { unsent: boolean },
  timeoutMs: TIMEOUT_MS,
  sql: `
    WITH released AS (
      UPDATE hook_lanes AS l SET owner = NULL WHERE hook_id IN (
        SELECT hook_id FROM hook_lanes AS l WHERE hook_id = ANY (:hooks) AND ${MINE} FOR UPDATE SKIP LOCKED)
      RETURNING EXISTS (SELECT 1 FROM hook_deliveries AS d WHERE d.hook_id = l.hook_id AND ${UNSENT}) AS unsent
    )
    SELECT unsent, CASE WHEN unsent AND :notify::boolean THEN pg_notify('${LANES_LEFT}', '') END FROM released`,
});

export interface ClaimTerms {
  readonly most: number;
  /** Whether failing hooks may have a lane. */
  readonly alsoFailing: boolean;
  /** Lanes that this process knows it holds. */
  readonly known: readonly string[];
  /** Whether to find out when a lane of another replica is free. */
  readonly includeOthers: boolean;
}

/** Decides which replica makes the first attempts of a hook: one at a time, in the order of the numbers it assigns. */
@Injectable()
export class LaneStore {
  constructor(
    private readonly database: Database,
    private readonly owner: LaneOwner,
  ) {}

  /** Claims free lanes with something to send, and lanes of this replica that are not among the `known`. */
  async claim({ most, alsoFailing, known, includeOthers }: ClaimTerms): Promise<FoundLanes> {
    const rows = await this.database.query(CLAIM, {
      ...{ names: this.owner.names, most, known },
      ...{ failing: alsoFailing, others: includeOthers },
    });
    const claimed = rows.flatMap(({ hook_id: hookId, failing }) =>
      hookId === null ? [] : [{ hookId, failing: failing === true }],
    );
    return { claimed, freeInMs: rows.find(({ hook_id }) => hook_id === null)?.free_in_ms ?? null };
  }

  /** The next deliveries of each lane, in order; nothing for lanes that are empty, locked, lost or without an active hook. */
  async next(lanes: readonly ClaimingLane[], maxEach: number): Promise<NextDeliveries> {
    const rows = await this.database.query(NEXT, {
      ...{ names: this.owner.names, most: maxEach },
      ...{ hooks: lanes.map(({ hookId }) => hookId), after: lanes.map((lane) => lane.after) },
    });
    const found = rows.flatMap(({ id, ...row }) => (id === null ? [] : [toDelivery({ ...row, id })]));
    return { deliveries: byHook(found), seen: new Set(rows.map(({ lane }) => lane)) };
  }

  /** Renews the leases of lanes that are still this replica's. */
  async renew(hookIds: readonly string[]): Promise<RenewedLanes> {
    const rows = await this.database.query(RENEW, { names: this.owner.names, hooks: hookIds });
    const those = (which: boolean) =>
      new Set(rows.filter(({ renewed }) => renewed === which).map(({ hook_id: hookId }) => hookId));
    return { renewed: those(true), locked: those(false) };
  }

  /**
   * @param tellOthers whether to notify the other replicas, because this one does not claim them again
   * @returns whether one of them has got something to send in the meantime
   */
  async release(hookIds: readonly string[], tellOthers: boolean): Promise<boolean> {
    const rows = await this.database.query(RELEASE, {
      ...{ names: this.owner.names, hooks: hookIds, notify: tellOthers },
    });
    return rows.some(({ unsent }) => unsent);
  }
}
