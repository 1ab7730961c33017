import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import type { Statement } from '../../platform/database/sql.js';
import { awaitsNoLonger } from './accepted/accepted-turns.sql.js';

/** A turn `t` with its session `s`. */
export const TURN_COLUMNS = `
  t.id, t.session_id, s.user_id, s.agent, s.channel, t.status, t.reason, coalesce(t.model, s.model) AS model, t.attempts,
  t.take_ups, t.created_at, t.started_at, t.ended_at, t.input_tokens::float8, t.cached_input_tokens::float8,
  t.cache_write_tokens::float8, t.output_tokens::float8, t.reasoning_tokens::float8, t.unpriced_tokens::float8,
  t.cost_usd::float8`;
export const FROM_TURNS = 'FROM turns AS t JOIN sessions AS s ON s.id = t.session_id';

/** With what it answered, without the texts. */
export const FIND: Statement = {
  name: 'turn_directory.find',
  text: `
    SELECT ${TURN_COLUMNS}, t.fence::float8, t.caller IS NOT NULL AS accepted, t.user_message_id, t.failure, t.failovers,
      said.id AS answer_id, said.model AS answer_model, said.finish_reason, said.incomplete, said.created_at AS answered_at
    ${FROM_TURNS} LEFT JOIN LATERAL (
      SELECT id, model, finish_reason, incomplete, created_at FROM messages
      WHERE session_id = t.session_id AND turn_id = t.id AND role = 'assistant' ORDER BY seq LIMIT 1
    ) AS said ON true
    WHERE t.id = $1`,
};

/** The most steps that are shown of a turn. */
const MOST_STEPS = 2000;

/** Who called what and how it went; neither texts nor arguments nor results. */
export const STEPS: Statement = {
  name: 'turn_directory.steps',
  text: `
    SELECT number, kind, created_at, content ->> 'model' AS model, content -> 'spending' AS spending,
      (SELECT json_agg(json_build_object('id', call ->> 'id', 'name', call ->> 'name'))
       FROM json_array_elements(content -> 'calls') AS call) AS calls,
      content #>> '{result,callId}' AS call_id, (content #>> '{result,isError}')::boolean AS is_error,
      content #>> '{record,status}' AS status, (content #>> '{record,durationMs}')::float8 AS duration_ms
    FROM turn_steps WHERE turn_id = $1 AND kind IN ('asked', 'answered') ORDER BY number LIMIT ${MOST_STEPS}`,
};

/** What a session's turns used, what runs in it, and how many messages wait. */
export const OF_SESSION: Statement = {
  name: 'turn_directory.of_session',
  text: `
    SELECT coalesce(sum(cached_input_tokens), 0)::float8 AS cached_input_tokens,
      coalesce(sum(cache_write_tokens), 0)::float8 AS cache_write_tokens,
      coalesce(sum(reasoning_tokens), 0)::float8 AS reasoning_tokens,
      coalesce(sum(unpriced_tokens), 0)::float8 AS unpriced_tokens, sum(cost_usd)::float8 AS cost_usd,
      (count(*) FILTER (WHERE status = 'waiting'))::int AS waiting,
      max(id) FILTER (WHERE status IN ('running', 'awaiting_approval')) AS running
    FROM turns WHERE session_id = $1`,
};

const audited = (from: string): string =>
  auditedSql({ action: 'turn.cancelled', subject: 'id', session: 'session_id', origin: '$2', from });

/** `$1` the turn, `$2` who asks: whoever runs it ends it. One that is parked has to be woken then. No row when it does not run. */
export const CANCEL_RUNNING: Statement = {
  name: 'turn_directory.cancel_running',
  text: `
    WITH asked AS (
      UPDATE sessions SET cancel_fence = turn_fence FROM turns
      WHERE turns.id = $1 AND turns.status IN ('running', 'awaiting_approval') AND sessions.id = turns.session_id
        AND sessions.turn_fence = turns.fence AND sessions.turn_owner IS NOT NULL
      RETURNING turns.id, sessions.id AS session_id
    ), audited AS (${audited('asked')})
    SELECT id FROM asked`,
};

/** `$1` the turn, `$2` who asks, `$3` what is told: a message that was accepted is in the history at once, unanswered. */
export const CANCEL_WAITING: Statement = {
  name: 'turn_directory.cancel_waiting',
  text: `
    WITH taken AS (
      SELECT id, session_id, user_message_id FROM turns
      WHERE id = $1 AND status = 'waiting' AND caller IS NOT NULL FOR UPDATE
    ), counted AS (
      UPDATE sessions SET message_count = message_count + 1, turn_count = turn_count + 1,
        ${awaitsNoLonger('awaits_message_id = taken.user_message_id')}
      FROM taken WHERE sessions.id = taken.session_id RETURNING message_count
    ), said AS (
      UPDATE messages SET seq = counted.message_count FROM counted, taken WHERE messages.id = taken.user_message_id
    ), audited AS (${audited('taken')})
    UPDATE turns SET status = 'cancelled', reason = 'turn_cancelled', failure = $3, ended_at = now()
    FROM taken WHERE turns.id = taken.id RETURNING turns.id`,
};
