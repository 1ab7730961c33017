import { columnsOf } from '../../../platform/database/entity-columns.js';
import {
  arrayOf,
  bigint,
  boolean,
  double,
  integer,
  json,
  nullable,
  text,
} from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { dueQuestion } from '../../../platform/runtime/due-question.js';
import { HISTORY_COLUMNS } from '../message-row.js';
import { STEP_ROW } from '../rounds/turn-steps.store.js';
import { TurnEntity } from '../turn.entity.js';
import { HELD_LEASE, LEASE_PARAMS } from '../turn-lease.js';
import { CLAIMED, CLAIMED_ROW, LEASE_END, REMEMBERED, SUMMARY, WATCHED } from '../turn-start.sql.js';
import { TurnStepEntity } from '../turn-step.entity.js';
import type { TurnOrigin } from './turn-origin.js';

/** A turn that may not be given up yet has this much time, however often its replicas die. */
const MIN_TRIED_SECS = 60;
/**
 * From the last allowed attempt on, each attempt waits this much longer than the one before: a turn that kills its
 * replica then does so rarely.
 */
const PAUSE_SECS = 15;
/** The owner of a session whose turn waits for a person. */
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

/**
 * Whether a lost turn may be tried once more: `mayResume` and `most` are SQL for `agent.resume` and
 * `turns.max_attempts`.
 */
export function mayGoOn(mayResume: string, most: string): string {
  return `(${mayResume} AND turns.origin IS NOT NULL AND sessions.turn_fence = turns.fence
    AND sessions.turn_owner IS NOT NULL AND sessions.status <> 'terminated'
    AND (turns.attempts < ${most} OR ${HAS_PROGRESSED}
      OR ${LAST_PROGRESS} > now() - interval '${MIN_TRIED_SECS} seconds'))`;
}

const IS_DUE = `(turns.attempts < :maxAttempts OR ${HAS_PROGRESSED}
    OR sessions.turn_lease_until < now() - (turns.attempts - :maxAttempts + 1) * interval '${PAUSE_SECS} seconds')`;

/** Turns that can be taken up now, subject to `agent.resume` and `turns.max_attempts`. */
export const DUE = statement({
  name: 'lost_turns.due',
  params: { mayResume: boolean, maxAttempts: integer, most: bigint },
  row: { id: text, session_id: text, user_message_id: text, fence: double, origin: json<TurnOrigin>() },
  sql: `
    SELECT turns.id, turns.session_id, turns.user_message_id, turns.fence::float8 AS fence, turns.origin ${LOST}
      AND ${mayGoOn(':mayResume::boolean', ':maxAttempts')} AND ${IS_DUE}
    ORDER BY turns.arrival LIMIT :most`,
});

/**
 * Takes a turn for this replica if nothing changed since it was seen, with the history as it was when the turn began.
 */
export const TAKE_UP = statement({
  name: 'lost_turns.take_up',
  params: { ...LEASE_PARAMS, ...{ turn: text, message: text, historyMessages: bigint } },
  row: {
    ...CLAIMED_ROW,
    /** The place of the message that it answers. */
    seq: integer,
    ...columnsOf(TurnEntity, 'takeUps', 'ranMs'),
    cancelled: boolean,
  },
  sql: `
    WITH claimed AS (
      UPDATE sessions SET turn_fence = turn_fence + 1, turn_owner = :replica, turn_lease_until = ${LEASE_END},
        quiet_since = ${LEASE_END}, last_activity = now(),
        cancel_fence = CASE WHEN cancel_fence = turn_fence THEN turn_fence + 1 ELSE cancel_fence END
      WHERE id = :session AND turn_fence = :fence AND turn_lease_until < now() AND status <> 'terminated'
        AND EXISTS (SELECT 1 FROM turns WHERE id = :turn AND status = 'running' AND fence = :fence)
      RETURNING ${CLAIMED}, coalesce(cancel_fence = turn_fence, false) AS cancelled
    ), turn AS (
      UPDATE turns SET fence = claimed.fence, owner = :replica, wake_at = NULL, attempt_at = now(), take_ups = take_ups + 1,
        attempts = CASE WHEN ${HAS_PROGRESSED} THEN 2 ELSE attempts + 1 END
      FROM claimed WHERE turns.id = :turn RETURNING turns.take_ups, turns.ran_ms
    ), asked AS (SELECT seq FROM messages WHERE id = :message)
    SELECT claimed.*, asked.seq, turn.take_ups, turn.ran_ms,
      (SELECT coalesce(json_agg(said_before), '[]') FROM (
        SELECT ${HISTORY_COLUMNS} FROM messages WHERE session_id = (SELECT :session) AND seq < (SELECT seq FROM asked)
          AND seq > (SELECT messages_cut FROM claimed) ORDER BY seq DESC LIMIT (SELECT :historyMessages::int8)) AS said_before) AS history,
      ${SUMMARY}, ${WATCHED}, ${REMEMBERED}, 0 AS deliveries
    FROM claimed, turn, asked`,
});

/** The steps of a turn that was taken: no other replica adds to them any more. */
export const STEPS = statement({
  name: 'lost_turns.steps',
  params: { turn: text },
  row: { ...columnsOf(TurnStepEntity, 'number'), ...STEP_ROW },
  sql: `SELECT number, kind, content FROM turn_steps WHERE turn_id = :turn ORDER BY number`,
});

/** Releases a turn that ran `ranMs` so far, for another replica. */
export const HAND_OVER = statement({
  name: 'lost_turns.hand_over',
  params: {
    ...{ ...LEASE_PARAMS, turn: text, ranMs: integer },
    /** The content of a step with what it spent since the last one; null when it spent nothing. */
    spent: nullable(json<unknown>()),
    isAttempt: boolean,
  },
  row: { id: text },
  sql: `
    WITH freed AS (
      UPDATE sessions SET turn_lease_until = now() - interval '1 millisecond', quiet_since = now(), turn_owner = 'handed over'
      WHERE ${HELD_LEASE} RETURNING id
    ), spent AS (
      INSERT INTO turn_steps (turn_id, number, kind, content)
      SELECT :turn, 1 + coalesce((SELECT max(number) FROM turn_steps WHERE turn_id = :turn), 0), 'spent', :spent::json
      FROM freed WHERE :spent::json IS NOT NULL
    )
    UPDATE turns SET attempts = attempts - CASE WHEN :isAttempt::boolean THEN 0 ELSE 1 END, ran_ms = :ranMs
    FROM freed WHERE turns.id = :turn AND turns.status = 'running' RETURNING turns.id`,
});

/**
 * Releases a turn that waits for answers to these approvals. The session stays busy and the lease has expired, so the
 * turn counts as lost as soon as its status says that it runs. The approvals are locked until that is stored, so that a
 * decision made now finds the turn parked.
 */
export const PARK = statement({
  name: 'lost_turns.park',
  params: { ...LEASE_PARAMS, ...{ turn: text, ranMs: integer, questions: arrayOf(text) } },
  row: columnsOf(TurnEntity, 'id'),
  sql: `
    WITH asked AS (
      SELECT verdict, expires_at FROM tool_approvals WHERE id = ANY (:questions) ORDER BY id FOR SHARE
    ), standing AS (
      SELECT count(*) < cardinality(:questions::text[]) OR coalesce(bool_or(verdict IS NOT NULL), true) AS decided,
        min(expires_at) AS first_end, max(expires_at) AS last_end FROM asked
    ), freed AS (
      UPDATE sessions SET turn_lease_until = now() - interval '1 millisecond', turn_owner = '${PARKED}',
        quiet_since = coalesce(standing.last_end, now())
      FROM standing WHERE ${HELD_LEASE}
      RETURNING standing.decided OR status = 'terminated' OR coalesce(cancel_fence = turn_fence, false) AS is_due,
        standing.first_end
    )
    UPDATE turns SET attempts = attempts - 1, ran_ms = :ranMs, owner = '${PARKED}',
      status = CASE WHEN freed.is_due THEN 'running' ELSE 'awaiting_approval' END,
      wake_at = CASE WHEN NOT freed.is_due THEN freed.first_end END
    FROM freed WHERE turns.id = :turn AND turns.status = 'running' RETURNING turns.id`,
});

const ARE_PARKED = `turns.status = 'awaiting_approval'`;
/**
 * Parked turns whose wait is over although nothing woke them: whatever ended the wait died before it could, or is a
 * version that does not.
 */
const IS_UNSAID = `sessions.status = 'terminated' OR sessions.cancel_fence = sessions.turn_fence
        OR EXISTS (SELECT 1 FROM tool_approvals WHERE tool_approvals.turn_id = turns.id AND tool_approvals.verdict IS NOT NULL
          AND tool_approvals.decided_at >= sessions.turn_lease_until)`;
/** One index answers this, however many turns are parked. */
const OVERDUE = `SELECT turns.id FROM turns WHERE ${ARE_PARKED} AND turns.wake_at <= now()`;
/** Looks at every parked turn. */
const UNSAID = `SELECT turns.id FROM turns JOIN sessions ON sessions.id = turns.session_id WHERE ${ARE_PARKED} AND (${IS_UNSAID})`;

/** Whether there are turns to look at. */
export const ANY_TO_TAKE_UP = dueQuestion({
  name: 'lost_turns',
  params: {},
  answer: boolean,
  sql: `(EXISTS (SELECT 1 ${LOST}) OR EXISTS (${OVERDUE}))`,
});

/** Whether there are parked turns that nothing has woken. */
export const ANY_UNSAID = dueQuestion({
  name: 'unsaid_turns',
  params: {},
  answer: boolean,
  sql: `EXISTS (${UNSAID})`,
});

const waking = (turns: string): string => `
    UPDATE turns SET status = 'running', wake_at = NULL
    WHERE id IN (${turns} FOR UPDATE OF turns SKIP LOCKED) AND ${ARE_PARKED}`;
/** Parked turns about whose calls no one decided in time. */
export const WAKE_OVERDUE = statement({
  name: 'lost_turns.wake_overdue',
  params: {},
  row: {},
  sql: waking(OVERDUE),
});
/** Parked turns whose wait has ended without waking them. */
export const WAKE_UNSAID = statement({
  name: 'lost_turns.wake_unsaid',
  params: {},
  row: {},
  sql: waking(UNSAID),
});

/**
 * Ends the wait of parked turns; `condition` is SQL about `turns`. Then a replica takes them up, or the sweeper closes
 * those that may not continue.
 */
export function wakeParked(condition: string): string {
  return `UPDATE turns SET status = 'running', wake_at = NULL WHERE ${ARE_PARKED} AND (${condition})`;
}

/**
 * A separate statement after the one that ends the turn: a turn that is parked at that moment is either seen here, or
 * sees the end itself.
 */
export const WAKE_OF_SESSION = statement({
  name: 'lost_turns.wake_of_session',
  params: { session: text },
  row: {},
  sql: wakeParked('turns.session_id = :session'),
});
