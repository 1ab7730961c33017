import type { Statement } from '../../platform/database/sql.js';
import { emitSql } from '../../platform/events/emit.sql.js';

/** Whether the turn of a question goes on: a question ends with its turn. Earlier versions did not write whose it is. */
const IS_OPEN_TURN = `(turn_id IS NULL OR EXISTS (
      SELECT 1 FROM turns JOIN sessions ON sessions.id = turns.session_id
      WHERE turns.id = turn_id AND turns.status IN ('running', 'awaiting_approval')
        AND sessions.status <> 'terminated' AND cancel_fence IS DISTINCT FROM turn_fence))`;

const PENDING = `verdict IS NULL AND expires_at > now() AND ${IS_OPEN_TURN}`;

/** What events tell of a question; not the arguments, which may hold anything. */
const FACTS = {
  ...{ session_id: 'session_id', channel: 'channel', user_id: 'user_id', turn_id: 'turn_id' },
  ...{ approval_id: 'id', tool_call_id: 'call_id', name: 'tool' },
};
const REQUESTED = emitSql('tool.approval_requested', 'user_id', {
  ...FACTS,
  expires_at: `to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
});
const DECIDED = emitSql('tool.approval_decided', 'user_id', {
  ...FACTS,
  ...{ status: 'verdict', decided_by: 'decided_by', reason: 'reason' },
});

/** What came of a question; one that ran out of time is answered by that. */
const SAID = `CASE WHEN verdict IS NOT NULL THEN verdict WHEN expires_at < now() THEN 'timeout' END`;

/** A turn that is taken up finds its question, with what was decided meanwhile. */
export const ASK: Statement = {
  name: 'tool_approvals.ask',
  text: `
    WITH forgotten AS (
      DELETE FROM tool_approvals
      WHERE (coalesce(decided_at, expires_at) < now() - interval '1 hour'
          OR turn_id IS NOT NULL AND verdict IS NULL AND asked_at < now() - interval '1 hour')
        AND NOT EXISTS (
          SELECT 1 FROM turns WHERE turns.id = turn_id AND turns.status IN ('running', 'awaiting_approval'))
    ), asked AS (
      INSERT INTO tool_approvals (id, call_id, tool, arguments, session_id, channel, user_id, expires_at, turn_id, asked_by)
      VALUES ($1, $2, $3, $4::jsonb, $5, $6, $7, now() + make_interval(secs => $8), $9, $10)
      ON CONFLICT (turn_id, call_id) DO UPDATE SET turn_id = excluded.turn_id
      RETURNING *, xmax = 0 AS is_new
    )
    SELECT id, expires_at, ${SAID} AS verdict, CASE WHEN is_new THEN ${REQUESTED} ELSE 0 END AS deliveries FROM asked`,
};

/** What was said about the questions `$1`. */
export const VERDICTS: Statement = {
  name: 'tool_approvals.verdict',
  text: `SELECT id, ${SAID} AS verdict FROM tool_approvals WHERE id = ANY ($1)`,
};

export const ANSWER: Statement = {
  name: 'tool_approvals.answer',
  text: `
    WITH answered AS (
      UPDATE tool_approvals SET verdict = $2, decided_by = $3, decided_at = now(), reason = $4
      WHERE id = $1 AND ${PENDING} RETURNING *
    )
    SELECT tool, session_id, call_id, turn_id, ${DECIDED} AS deliveries FROM answered`,
};

/** After the answer, so that it is seen by whoever parks the turn at this moment: that one holds the row. */
export const WAKE: Statement = {
  name: 'tool_approvals.wake',
  text: `UPDATE turns SET status = 'running', wake_at = NULL WHERE id = $1 AND status = 'awaiting_approval'`,
};

/** Who sent the message that made the call; its turn forgets that when it ends. */
const ASKER = `(SELECT origin -> 'caller' FROM turns WHERE turns.id = turn_id) AS asker`;

export const OPEN: Statement = {
  name: 'tool_approvals.open',
  text: `
    SELECT id, asked_by, ${ASKER}, call_id, tool, arguments, session_id, channel, user_id, asked_at, expires_at
    FROM tool_approvals WHERE ${PENDING} AND ($1::text IS NULL OR session_id = $1)
    ORDER BY asked_at, id LIMIT 100`,
};

/** A decided one stays for an hour, for those who decide second. */
export const FORGET: Statement = {
  name: 'tool_approvals.forget',
  text: 'DELETE FROM tool_approvals WHERE id = $1 AND verdict IS NULL',
};

const RECORD = `id, asked_by, ${ASKER}, call_id, tool, arguments, session_id, channel, user_id, asked_at, expires_at, verdict, decided_by,
  decided_at, reason, (SELECT agent FROM sessions WHERE sessions.id = session_id) AS agent`;
const OF_AGENTS = (agents: string): string =>
  `(${agents}::text[] IS NULL OR session_id IN (SELECT id FROM sessions WHERE agent = ANY (${agents})))`;

/** Newest first, after a time and an id; of one user and of some agents when given. */
export const PAGE: Statement = {
  name: 'tool_approvals.page',
  text: `
    SELECT ${RECORD} FROM tool_approvals
    WHERE (asked_at, id) < ($1::timestamptz, $2) AND ($3::text IS NULL OR user_id = $3)
      AND CASE WHEN $4 = 'pending' THEN ${PENDING} ELSE verdict = $4 END AND ${OF_AGENTS('$6')}
    ORDER BY asked_at DESC, id DESC LIMIT $5`,
};

/** One that waits, or was decided. */
export const FIND: Statement = {
  name: 'tool_approvals.find',
  text: `
    SELECT ${RECORD} FROM tool_approvals
    WHERE id = $1 AND ($2::text IS NULL OR user_id = $2) AND ${OF_AGENTS('$3')}
      AND (verdict IS NOT NULL OR ${PENDING})`,
};

/** How many wait, and since when the oldest does. */
export const WAITING: Statement = {
  name: 'tool_approvals.waiting',
  text: `SELECT count(*)::int AS count, min(asked_at) AS oldest FROM tool_approvals WHERE ${PENDING}`,
};
