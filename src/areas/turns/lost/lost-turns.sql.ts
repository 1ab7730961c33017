import type { Statement } from '../../../platform/database/sql.js';
import { HISTORY_COLUMNS } from '../message-row.js';
import { CLAIMED, LEASE_END, REMEMBERED, SUMMARY, WATCHED } from '../turn-start.sql.js';

/** A turn that may not be given up yet has this long, however often its replicas die. */
const MIN_TRIED_SECS = 60;
/** From the last allowed attempt on, each further one waits so much longer: what kills its replica does so rarely. */
const PAUSE_SECS = 15;

/** Turns whose owner is gone. */
export const LOST = `
      FROM turns JOIN sessions ON sessions.id = turns.session_id
      WHERE turns.status = 'running' AND (sessions.turn_lease_until < now() OR sessions.turn_fence <> turns.fence
        OR sessions.turn_owner IS NULL)`;

const HAS_PROGRESSED = `EXISTS (SELECT 1 FROM turn_steps WHERE turn_steps.turn_id = turns.id
        AND turn_steps.created_at >= coalesce(turns.attempt_at, turns.started_at))`;

const LAST_PROGRESS = `greatest(coalesce(turns.started_at, turns.created_at),
        (SELECT max(created_at) FROM turn_steps WHERE turn_steps.turn_id = turns.id))`;

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
      UPDATE turns SET fence = claimed.fence, owner = $2, attempt_at = now(), take_ups = take_ups + 1,
        attempts = CASE WHEN ${HAS_PROGRESSED} THEN 2 ELSE attempts + 1 END
      FROM claimed WHERE turns.id = $5 RETURNING turns.take_ups
    ), asked AS (SELECT seq FROM messages WHERE id = $6)
    SELECT claimed.*, asked.seq, turn.take_ups,
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

/** Lets go of a turn (`$1` session, `$2` fence, `$3` replica, `$4` turn) for another replica; the attempt does not count. */
export const HAND_OVER: Statement = {
  name: 'lost_turns.hand_over',
  text: `
    WITH freed AS (
      UPDATE sessions SET turn_lease_until = now() - interval '1 millisecond', quiet_since = now(), turn_owner = 'handed over'
      WHERE id = $1 AND turn_fence = $2 AND turn_owner = $3 RETURNING id
    )
    UPDATE turns SET attempts = attempts - 1 FROM freed WHERE turns.id = $4 AND turns.status = 'running' RETURNING turns.id`,
};
