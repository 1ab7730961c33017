import type { Statement } from '../../../platform/database/sql.js';
import { HISTORY_COLUMNS } from '../message-row.js';
import { CLAIMED, LEASE_END, REMEMBERED, SUMMARY, WATCHED } from '../turn-start.sql.js';

/** A turn that may not be given up yet has this long, however often its replicas die. */
const MIN_TRIED_SECS = 60;
/** From the last allowed attempt on, each further one waits so much longer: what kills its replica does so rarely. */
const PAUSE_SECS = 15;
/** Who owns a session whose turn waits for a person. */
const PARKED = 'awaiting approval';

/** Turns whose owner is gone. */
export const LOST = `
      FROM turns JOIN sessions ON sessions.id = turns.session_id
      WHERE turns.status = 'running' AND (sessions.turn_lease_until < now() OR sessions.turn_fence <> turns.fence
        OR sessions.turn_owner IS NULL)`;

const HAS_PROGRESSED = `EXISTS (SELECT 1 FROM turn_steps WHERE turn_steps.turn_id = turns.id
        AND turn_steps.kind <> 'spent' AND turn_steps.created_at >= coalesce(turns.attempt_at, turns.started_at))`;

const LAST_PROGRESS = `greatest(coalesce(turns.started_at, turns.created_at),
        (SELECT max(created_at) FROM turn_steps WHERE turn_steps.turn_id = turns.id AND kind <> 'spent'))`;

/** Whether a turn that is lost may be tried once more: `mayResume` and `most` are SQL for `agent.resume` and `turns.max_attempts`. */
export function mayGoOn(mayResume: string, most: string): string {
  return `(${mayResume} AND turns.origin IS NOT NULL AND sessions.turn_fence = turns.fence
    AND sessions.turn_owner IS NOT NULL AND sessions.status <> 'terminated'
    AND (turns.attempts < ${most} OR ${HAS_PROGRESSED}
      OR ${LAST_PROGRESS} > now() - interval '${MIN_TRIED_SECS} seconds'))`;
}

const IS_DUE = `(turns.attempts < $2 OR ${HAS_PROGRESSED}
    OR sessions.turn_lease_until < now() - (turns.attempts - $2 + 1) * interval '${PAUSE_SECS} seconds')`;

/** Turns that can be taken up now: `$1` `agent.resume`, `$2` `turns.max_attempts`, `$3` how many at most. */
export const DUE: Statement = {
  name: 'lost_turns.due',
  text: `
    SELECT turns.id, turns.session_id, turns.user_message_id, turns.fence::float8 AS fence, turns.origin ${LOST}
      AND ${mayGoOn('$1::boolean', '$2')} AND ${IS_DUE}
    ORDER BY turns.arrival LIMIT $3`,
};

/**
 * Takes turn `$5` (message `$6`) of session `$1` for replica `$2`, if it is still as it was seen (fence `$3`), with `$4` messages of
 * history before it, as when it began, and its steps.
 */
export const TAKE_UP: Statement = {
  name: 'lost_turns.take_up',
  text: `
    WITH claimed AS (
      UPDATE sessions SET turn_fence = turn_fence + 1, turn_owner = $2, turn_lease_until = ${LEASE_END},
        quiet_since = ${LEASE_END}, last_activity = now(),
        cancel_fence = CASE WHEN cancel_fence = turn_fence THEN turn_fence + 1 ELSE cancel_fence END
      WHERE id = $1 AND turn_fence = $3 AND turn_lease_until < now() AND status <> 'terminated'
        AND EXISTS (SELECT 1 FROM turns WHERE id = $5 AND status = 'running' AND fence = $3)
      RETURNING ${CLAIMED}, coalesce(cancel_fence = turn_fence, false) AS cancelled
    ), turn AS (
      UPDATE turns SET fence = claimed.fence, owner = $2, wake_at = NULL, attempt_at = now(), take_ups = take_ups + 1,
        attempts = CASE WHEN ${HAS_PROGRESSED} THEN 2 ELSE attempts + 1 END
      FROM claimed WHERE turns.id = $5 RETURNING turns.take_ups, turns.ran_ms
    ), asked AS (SELECT seq FROM messages WHERE id = $6)
    SELECT claimed.*, asked.seq, turn.take_ups, turn.ran_ms,
      (SELECT coalesce(json_agg(said_before), '[]') FROM (
        SELECT ${HISTORY_COLUMNS} FROM messages WHERE session_id = (SELECT $1) AND seq < (SELECT seq FROM asked)
          AND seq > (SELECT messages_cut FROM claimed) ORDER BY seq DESC LIMIT (SELECT $4::int8)) AS said_before) AS history,
      ${SUMMARY}, ${WATCHED}, ${REMEMBERED}, 0 AS deliveries
    FROM claimed, turn, asked`,
};

/** The steps of a turn that was taken: no other replica adds to them any more. */
export const STEPS: Statement = {
  name: 'lost_turns.steps',
  text: `SELECT number, kind, content FROM turn_steps WHERE turn_id = $1 ORDER BY number`,
};

/**
 * Lets go of a turn (`$1` session, `$2` fence, `$3` replica, `$4` turn) that ran `$5` ms for another replica; `$7` says whether
 * the attempt counts. `$6` is the content of a step with what it spent since the last one, null for nothing.
 */
export const HAND_OVER: Statement = {
  name: 'lost_turns.hand_over',
  text: `
    WITH freed AS (
      UPDATE sessions SET turn_lease_until = now() - interval '1 millisecond', quiet_since = now(), turn_owner = 'handed over'
      WHERE id = $1 AND turn_fence = $2 AND turn_owner = $3 RETURNING id
    ), spent AS (
      INSERT INTO turn_steps (turn_id, number, kind, content)
      SELECT $4, 1 + coalesce((SELECT max(number) FROM turn_steps WHERE turn_id = $4), 0), 'spent', $6::json
      FROM freed WHERE $6::json IS NOT NULL
    )
    UPDATE turns SET attempts = attempts - CASE WHEN $7::boolean THEN 0 ELSE 1 END, ran_ms = $5
    FROM freed WHERE turns.id = $4 AND turns.status = 'running' RETURNING turns.id`,
};

/**
 * Lets go of a turn (`$1` to `$5` as above) that waits for answers to the questions `$6`. The session stays busy and the lease has
 * run out: the turn is lost as soon as its status says that it runs. The questions are held until that is stored, so that
 * one that is answered now finds the turn parked.
 */
export const PARK: Statement = {
  name: 'lost_turns.park',
  text: `
    WITH asked AS (
      SELECT verdict, expires_at FROM tool_approvals WHERE id = ANY ($6) ORDER BY id FOR SHARE
    ), standing AS (
      SELECT count(*) < cardinality($6::text[]) OR coalesce(bool_or(verdict IS NOT NULL), true) AS decided,
        min(expires_at) AS first_end, max(expires_at) AS last_end FROM asked
    ), freed AS (
      UPDATE sessions SET turn_lease_until = now() - interval '1 millisecond', turn_owner = '${PARKED}',
        quiet_since = coalesce(standing.last_end, now())
      FROM standing WHERE id = $1 AND turn_fence = $2 AND turn_owner = $3
      RETURNING standing.decided OR status = 'terminated' OR coalesce(cancel_fence = turn_fence, false) AS is_due,
        standing.first_end
    )
    UPDATE turns SET attempts = attempts - 1, ran_ms = $5, owner = '${PARKED}',
      status = CASE WHEN freed.is_due THEN 'running' ELSE 'awaiting_approval' END,
      wake_at = CASE WHEN NOT freed.is_due THEN freed.first_end END
    FROM freed WHERE turns.id = $4 AND turns.status = 'running' RETURNING turns.id`,
};

const ARE_PARKED = `turns.status = 'awaiting_approval'`;
/** What woke none of these: whoever ended the wait died before it said so, or is of a version that does not. */
const IS_UNSAID = `sessions.status = 'terminated' OR sessions.cancel_fence = sessions.turn_fence
        OR EXISTS (SELECT 1 FROM tool_approvals WHERE tool_approvals.turn_id = turns.id AND tool_approvals.verdict IS NOT NULL
          AND tool_approvals.decided_at >= sessions.turn_lease_until)`;
/** One index says it, however many are parked. */
const OVERDUE = `SELECT turns.id FROM turns WHERE ${ARE_PARKED} AND turns.wake_at <= now()`;
/** Looks at every parked turn. */
const UNSAID = `SELECT turns.id FROM turns JOIN sessions ON sessions.id = turns.session_id WHERE ${ARE_PARKED} AND (${IS_UNSAID})`;

/** Whether there are turns to be looked at. */
export const ANY_TO_TAKE_UP = `(EXISTS (SELECT 1 ${LOST}) OR EXISTS (${OVERDUE}))`;

/** Whether there are parked turns that nobody has woken. */
export const ANY_UNSAID = `EXISTS (${UNSAID})`;

const waking = (name: string, turns: string): Statement => ({
  name,
  text: `
    UPDATE turns SET status = 'running', wake_at = NULL
    WHERE id IN (${turns} FOR UPDATE OF turns SKIP LOCKED) AND ${ARE_PARKED}`,
});
/** Parked turns about whose calls nobody decided in time. */
export const WAKE_OVERDUE = waking('lost_turns.wake_overdue', OVERDUE);
/** Those whose wait has ended without that they were woken. */
export const WAKE_UNSAID = waking('lost_turns.wake_unsaid', UNSAID);

/** Ends the wait of parked turns; `condition` is SQL about `turns`. They are then taken up, or closed when they may not go on. */
export function wakeParked(condition: string): string {
  return `UPDATE turns SET status = 'running', wake_at = NULL WHERE ${ARE_PARKED} AND (${condition})`;
}

/** A statement of its own, after what ends the turn: one that is parked at that moment is seen here, or sees that itself. */
export const WAKE_OF_SESSION: Statement = {
  name: 'lost_turns.wake_of_session',
  text: wakeParked('turns.session_id = $1'),
};
