import { columnsOf } from '../../platform/database/entity-columns.js';
import {
  arrayOf,
  bigint,
  double,
  integer,
  json,
  jsonb,
  nullable,
  oneOf,
  text,
  timestamp,
} from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { ToolApprovalEntity } from './tool-approval.entity.js';
import type { ApprovalVerdict, Asker } from './tool-approvals.port.js';

/**
 * Whether the turn of an approval continues: an approval ends with its turn. Rows of earlier versions do not name it.
 */
const IS_OPEN_TURN = `(turn_id IS NULL OR EXISTS (
      SELECT 1 FROM turns JOIN sessions ON sessions.id = turns.session_id
      WHERE turns.id = turn_id AND turns.status IN ('running', 'awaiting_approval')
        AND sessions.status <> 'terminated' AND cancel_fence IS DISTINCT FROM turn_fence))`;

const PENDING = `verdict IS NULL AND expires_at > now() AND ${IS_OPEN_TURN}`;

/** What events say about an approval, without the arguments, which may hold anything. */
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

/** The result of an approval; running out of time is a result, too. */
const SAID = `CASE WHEN verdict IS NOT NULL THEN verdict WHEN expires_at < now() THEN 'timeout' END`;

/** A turn that is taken up finds its approval, with the decision made meanwhile. */
export const ASK = statement({
  name: 'tool_approvals.ask',
  params: {
    ...{ id: text, callId: text, tool: text, arguments: jsonb<unknown>() },
    ...{ session: text, channel: text, user: text, turn: nullable(text) },
    timeoutSecs: double,
    /** The name of the token whose message made the call. */
    askedBy: nullable(text),
  },
  row: {
    ...columnsOf(ToolApprovalEntity, 'id', 'expiresAt'),
    /** For a turn that was taken up: the result meanwhile. */
    verdict: nullable(oneOf<ApprovalVerdict>()),
    /** How many hooks it is delivered to. */
    deliveries: integer,
  },
  sql: `
    WITH forgotten AS (
      DELETE FROM tool_approvals
      WHERE (coalesce(decided_at, expires_at) < now() - interval '1 hour'
          OR turn_id IS NOT NULL AND verdict IS NULL AND asked_at < now() - interval '1 hour')
        AND NOT EXISTS (
          SELECT 1 FROM turns WHERE turns.id = turn_id AND turns.status IN ('running', 'awaiting_approval'))
    ), asked AS (
      INSERT INTO tool_approvals (id, call_id, tool, arguments, session_id, channel, user_id, expires_at, turn_id, asked_by)
      VALUES (:id, :callId, :tool, :arguments::jsonb, :session, :channel, :user, now() + make_interval(secs => :timeoutSecs), :turn, :askedBy)
      ON CONFLICT (turn_id, call_id) DO UPDATE SET turn_id = excluded.turn_id
      RETURNING *, xmax = 0 AS is_new
    )
    SELECT id, expires_at, ${SAID} AS verdict, CASE WHEN is_new THEN ${REQUESTED} ELSE 0 END AS deliveries FROM asked`,
});

/** The decisions about these approvals. */
export const VERDICTS = statement({
  name: 'tool_approvals.verdict',
  params: { ids: arrayOf(text) },
  row: { ...columnsOf(ToolApprovalEntity, 'id'), verdict: nullable(oneOf<ApprovalVerdict>()) },
  sql: `SELECT id, ${SAID} AS verdict FROM tool_approvals WHERE id = ANY (:ids)`,
});

export const ANSWER = statement({
  name: 'tool_approvals.answer',
  params: { id: text, verdict: oneOf<'allowed' | 'denied'>(), by: text, reason: nullable(text) },
  row: { ...columnsOf(ToolApprovalEntity, 'tool', 'sessionId', 'callId', 'turnId'), deliveries: integer },
  sql: `
    WITH answered AS (
      UPDATE tool_approvals SET verdict = :verdict, decided_by = :by, decided_at = now(), reason = :reason
      WHERE id = :id AND ${PENDING} RETURNING *
    )
    SELECT tool, session_id, call_id, turn_id, ${DECIDED} AS deliveries FROM answered`,
});

/**
 * Runs after the decision, so that a replica that parks the turn at this moment sees it: that replica holds the row.
 */
export const WAKE = statement({
  name: 'tool_approvals.wake',
  params: { turn: nullable(text) },
  row: {},
  sql: `UPDATE turns SET status = 'running', wake_at = NULL WHERE id = :turn AND status = 'awaiting_approval'`,
});

/** The sender of the message that made the call; its turn forgets that when it ends. */
const ASKER = `(SELECT origin -> 'caller' FROM turns WHERE turns.id = turn_id) AS asker`;

const CALL_ROW = {
  ...columnsOf(ToolApprovalEntity, 'id', 'callId', 'tool', 'arguments', 'sessionId', 'channel', 'userId'),
  ...columnsOf(ToolApprovalEntity, 'askedBy', 'askedAt', 'expiresAt'),
  asker: nullable(json<Asker>()),
};

export const OPEN = statement({
  name: 'tool_approvals.open',
  params: { session: nullable(text) },
  row: CALL_ROW,
  sql: `
    SELECT id, asked_by, ${ASKER}, call_id, tool, arguments, session_id, channel, user_id, asked_at, expires_at
    FROM tool_approvals WHERE ${PENDING} AND (:session::text IS NULL OR session_id = :session)
    ORDER BY asked_at, id LIMIT 100`,
});

/** A decided approval stays for an hour, for people who decide second. */
export const FORGET = statement({
  name: 'tool_approvals.forget',
  params: { id: text },
  row: {},
  sql: 'DELETE FROM tool_approvals WHERE id = :id AND verdict IS NULL',
});

const RECORD = `id, asked_by, ${ASKER}, call_id, tool, arguments, session_id, channel, user_id, asked_at, expires_at, verdict, decided_by,
  decided_at, reason, (SELECT agent FROM sessions WHERE sessions.id = session_id) AS agent`;
const RECORD_ROW = {
  ...CALL_ROW,
  ...columnsOf(ToolApprovalEntity, 'verdict', 'decidedBy', 'decidedAt', 'reason'),
  agent: nullable(text),
};
/** Whose approvals somebody sees: of one user and of some agents, null for all. */
const SEEN = { user: nullable(text), agents: nullable(arrayOf(text)) };
const IS_SEEN = `(:user::text IS NULL OR user_id = :user)
      AND (:agents::text[] IS NULL OR session_id IN (SELECT id FROM sessions WHERE agent = ANY (:agents)))`;

/** Newest first, after a time and an id. */
export const PAGE = statement({
  name: 'tool_approvals.page',
  params: {
    ...SEEN,
    ...{ at: timestamp, id: text, status: oneOf<'pending' | 'allowed' | 'denied'>(), most: bigint },
  },
  row: RECORD_ROW,
  sql: `
    SELECT ${RECORD} FROM tool_approvals
    WHERE (asked_at, id) < (:at::timestamptz, :id)
      AND CASE WHEN :status = 'pending' THEN ${PENDING} ELSE verdict = :status END AND ${IS_SEEN}
    ORDER BY asked_at DESC, id DESC LIMIT :most`,
});

/** An approval that waits, or was decided. */
export const FIND = statement({
  name: 'tool_approvals.find',
  params: { ...SEEN, id: text },
  row: RECORD_ROW,
  sql: `
    SELECT ${RECORD} FROM tool_approvals
    WHERE id = :id AND ${IS_SEEN}
      AND (verdict IS NOT NULL OR ${PENDING})`,
});

/** How many wait, and since when the oldest does. */
export const WAITING = statement({
  name: 'tool_approvals.waiting',
  params: {},
  row: { count: integer, oldest: nullable(timestamp) },
  sql: `SELECT count(*)::int AS count, min(asked_at) AS oldest FROM tool_approvals WHERE ${PENDING}`,
});
