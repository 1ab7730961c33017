import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { byHook, DELIVERY_COLUMNS, type Delivery, type DeliveryRow, toDelivery } from './delivery.js';
import { LANES_LEFT, LaneOwner } from './lane-owner.js';

/**
 * A lane that is not renewed for so long is free for other replicas: the most that a replica which dies without a word
 * delays a hook. A living one renews three times within it; one that is held up for longer may send something twice.
 */
export const LANE_LEASE_SECS = 1.75;
/** Statements of lanes that take longer are given up: nobody waits for a database that hangs, and the next one may not. */
const TIMEOUT_MS = 5000;

const LEASE_END = `now() + interval '${LANE_LEASE_SECS} seconds'`;
const UNSENT = `status = 'pending' AND attempts = 0`;

export interface ClaimedLane {
  readonly hookId: string;
  /** Whether nothing but failures came back lately. */
  readonly failing: boolean;
}

/** What was found when lanes were looked for. */
export interface FoundLanes {
  readonly claimed: readonly ClaimedLane[];
  /** When the first lane of another replica with something to send is free unless it is renewed; null without any. */
  readonly freeInMs: number | null;
}

/** What a claim found. A lane that is in neither is locked by another statement, or not held any more. */
export interface NextDeliveries {
  readonly deliveries: ReadonlyMap<string, Delivery[]>;
  /** The lanes that were looked at. */
  readonly seen: ReadonlySet<string>;
}

/** What became of the leases that were to be renewed. A lane that is in neither is lost. */
export interface RenewedLanes {
  readonly renewed: ReadonlySet<string>;
  /** Still this replica's, but locked by another statement: its lease runs on. */
  readonly locked: ReadonlySet<string>;
}

export interface ClaimingLane {
  readonly hookId: string;
  /** The last number of those that were claimed and are not written down yet; 0 without any. */
  readonly after: number;
}

/** A probe: an EXISTS would be turned into a join that reads all that is unsent, however much dead receivers let grow. */
const HAS_UNSENT = `(SELECT true FROM hook_deliveries AS d WHERE d.hook_id = l.hook_id AND ${UNSENT} LIMIT 1)`;

/** Whether any lane has something to send, whoever holds it: its owner may be gone, or may not know that it is. */
export const ANY_UNSENT = `coalesce((
  SELECT true FROM hook_lanes AS l JOIN hooks AS h ON h.id = l.hook_id AND h.active
  WHERE ${HAS_UNSENT} LIMIT 1), false)`;

const MINE = `l.owner = ANY ($1::text[])`;
const OTHERS = `l.owner <> ALL ($1::text[])`;
const MY_NAME = `($1::text[])[1]`;
/**
 * An owner with a lock in its name that nobody holds is dead. Only a dead one's lock is taken here, shared and until the
 * statement ends: nobody waits for it.
 */
const DEAD = `coalesce(pg_try_advisory_xact_lock_shared(substring(l.owner FROM '#([0-9]{1,15})$')::int8), false)`;

/**
 * `$1` the names of this replica, `$2` most lanes, `$3` whether failing hooks may have one, `$4` the lanes that it knows to hold,
 * `$5` whether to look at others' lanes, too. Those that work come first. A lane that is this replica's without its
 * knowledge (the answer to a statement was lost, or a release failed) is free for it at once.
 */
const CLAIM: Statement = {
  name: 'hook_lanes.take',
  replanned: true,
  timeoutMs: TIMEOUT_MS,
  text: `
    WITH free AS (
      SELECT l.hook_id FROM hook_lanes AS l JOIN hooks AS h ON h.id = l.hook_id AND h.active
      WHERE (l.owner IS NULL OR l.lease_until <= now() OR (${MINE} AND l.hook_id <> ALL ($4)) OR (${OTHERS} AND ${DEAD}))
        AND (l.failing_since IS NULL OR $3::boolean) AND ${HAS_UNSENT}
      ORDER BY l.failing_since IS NOT NULL, l.lease_until NULLS FIRST LIMIT $2 FOR UPDATE OF l SKIP LOCKED
    ), taken AS (
      UPDATE hook_lanes AS l SET owner = ${MY_NAME}, lease_until = ${LEASE_END} FROM free WHERE l.hook_id = free.hook_id
      RETURNING l.hook_id, l.failing_since IS NOT NULL AS failing
    )
    SELECT hook_id, failing, NULL::float8 AS free_in_ms FROM taken
    UNION ALL
    SELECT NULL, NULL, extract(epoch FROM min(l.lease_until) - now())::float8 * 1000
    FROM hook_lanes AS l JOIN hooks AS h ON h.id = l.hook_id AND h.active
    WHERE $5::boolean AND ${OTHERS} AND l.lease_until > now() AND ${HAS_UNSENT}
    HAVING count(*) > 0`,
};

/**
 * The next deliveries of lanes (`$2`) that this replica (`$1`) holds, at most `$3` each, after those it was given
 * before (up to the numbers `$4`). What has no number yet
 * gets the next ones: in one place, one holder at a time, so there are no gaps and no two alike, and no writer of
 * events waits for another. A statement of its own after TAKE, so that it sees what the holder before wrote. A lane that
 * another statement has locked (a replay of much, outcomes of a replica before) is passed over: the others do not wait
 * for it. A lane that was looked at has a row without a delivery. Those rows come by a UNION: with a join, PostgreSQL, which
 * expects one row of each, looked through all that was found once for each lane.
 */
const NEXT: Statement = {
  name: 'hook_lanes.next',
  replanned: true,
  timeoutMs: TIMEOUT_MS,
  text: `
    WITH held AS (
      SELECT l.hook_id, l.sequence, asked.after
      FROM hook_lanes AS l JOIN unnest($2::text[], $4::int8[]) AS asked (hook_id, after) ON asked.hook_id = l.hook_id
      WHERE ${MINE} AND l.lease_until > now() FOR UPDATE OF l SKIP LOCKED
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
    ), found AS MATERIALIZED (
      SELECT ${DELIVERY_COLUMNS} FROM picked AS d
      JOIN events AS e ON e.id = d.event_id JOIN hooks AS h ON h.id = d.hook_id AND h.active
    )
    SELECT found.hook_id AS lane, found.* FROM found
    UNION ALL SELECT held.hook_id, found.* FROM held LEFT JOIN found ON false
    ORDER BY lane, sequence`,
};

const RENEW: Statement = {
  name: 'hook_lanes.renew',
  timeoutMs: TIMEOUT_MS,
  text: `
    WITH mine AS (
      SELECT l.hook_id FROM hook_lanes AS l JOIN hooks AS h ON h.id = l.hook_id AND h.active
      WHERE l.hook_id = ANY ($2) AND ${MINE}
    ), unlocked AS (
      SELECT l.hook_id FROM hook_lanes AS l
      WHERE l.hook_id IN (SELECT hook_id FROM mine) AND ${MINE} FOR UPDATE OF l SKIP LOCKED
    ), renewed AS (
      UPDATE hook_lanes AS l SET owner = ${MY_NAME}, lease_until = ${LEASE_END} FROM unlocked WHERE l.hook_id = unlocked.hook_id
      RETURNING l.hook_id
    )
    SELECT mine.hook_id, renewed.hook_id IS NOT NULL AS renewed
    FROM mine LEFT JOIN renewed ON renewed.hook_id = mine.hook_id`,
};

/**
 * One that another statement has locked is not waited for: it stays this replica's, which takes it when it is needed.
 * `$3` whether the others are to be told of what is left to send.
 */
const RELEASE: Statement = {
  name: 'hook_lanes.release',
  timeoutMs: TIMEOUT_MS,
  text: `
    WITH released AS (
      UPDATE hook_lanes AS l SET owner = NULL WHERE hook_id IN (
        SELECT hook_id FROM hook_lanes AS l WHERE hook_id = ANY ($2) AND ${MINE} FOR UPDATE SKIP LOCKED)
      RETURNING EXISTS (SELECT 1 FROM hook_deliveries AS d WHERE d.hook_id = l.hook_id AND ${UNSENT}) AS unsent
    )
    SELECT unsent, CASE WHEN unsent AND $3::boolean THEN pg_notify('${LANES_LEFT}', '') END FROM released`,
};

export interface ClaimTerms {
  readonly most: number;
  readonly alsoFailing: boolean;
  /** Lanes that this process holds. */
  readonly known: readonly string[];
  /** Whether to say when a lane of another replica is free. */
  readonly includeOthers: boolean;
}

interface ClaimRow {
  hook_id: string | null;
  failing: boolean | null;
  free_in_ms: number | null;
}

type NextRow = { lane: string } & (DeliveryRow | { id: null });

/** Who makes the first attempts of which hook: one replica at a time, in the order of the numbers it gives. */
@Injectable()
export class LaneStore {
  constructor(
    private readonly database: Database,
    private readonly owner: LaneOwner,
  ) {}

  /** Takes free lanes with something to send, and those of this replica that are not among the `known`. */
  async claim({ most, alsoFailing, known, includeOthers }: ClaimTerms): Promise<FoundLanes> {
    const values = [this.owner.names, most, alsoFailing, known, includeOthers];
    const rows = await this.database.query<ClaimRow>(CLAIM, values);
    const taken = rows.flatMap(({ hook_id: hookId, failing }) =>
      hookId === null ? [] : [{ hookId, failing: failing === true }],
    );
    return { claimed: taken, freeInMs: rows.find(({ hook_id }) => hook_id === null)?.free_in_ms ?? null };
  }

  /** The next deliveries of each lane, in order; nothing for lanes that are empty, locked, lost or without an active hook. */
  async next(lanes: readonly ClaimingLane[], maxEach: number): Promise<NextDeliveries> {
    const [hookIds, after] = [lanes.map(({ hookId }) => hookId), lanes.map((lane) => lane.after)];
    const values = [this.owner.names, hookIds, maxEach, after];
    const rows = await this.database.query<NextRow>(NEXT, values);
    const found = rows.filter((row): row is NextRow & DeliveryRow => row.id !== null);
    return { deliveries: byHook(found.map(toDelivery)), seen: new Set(rows.map(({ lane }) => lane)) };
  }

  /** Renews the leases of lanes that are still this replica's. */
  async renew(hookIds: readonly string[]): Promise<RenewedLanes> {
    const rows = await this.database.query<{ hook_id: string; renewed: boolean }>(RENEW, [
      this.owner.names,
      hookIds,
    ]);
    const those = (which: boolean) =>
      new Set(rows.filter(({ renewed }) => renewed === which).map(({ hook_id: hookId }) => hookId));
    return { renewed: those(true), locked: those(false) };
  }

  /**
   * @param tellOthers because this replica does not take them again
   * @returns whether one of them got something to send in the meantime
   */
  async release(hookIds: readonly string[], tellOthers: boolean): Promise<boolean> {
    const values = [this.owner.names, hookIds, tellOthers];
    const rows = await this.database.query<{ unsent: boolean }>(RELEASE, values);
    return rows.some(({ unsent }) => unsent);
  }
}
