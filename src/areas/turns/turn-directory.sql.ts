import type { StoredError } from '../../common/errors/gateway-error.js';
import { auditedSql } from '../../platform/audit-log/audited.sql.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import {
  arrayOf,
  bigint,
  boolean,
  double,
  integer,
  json,
  jsonb,
  nullable,
  oneOf,
  optional,
  text,
  timestamp,
} from '../../platform/database/sql-types.js';
import { statement, statementsBy } from '../../platform/database/statement.js';
import type { ModelSpending } from '../usage/usage.api.js';
import { awaitsNoLonger } from './accepted/accepted-turns.sql.js';
import { TurnEntity } from './turn.entity.js';
import type { TurnStatus } from './turn-status.js';
import { TurnStepEntity } from './turn-step.entity.js';

/** A turn `t` with its session `s`. */
const TURN_COLUMNS = `
  t.id, t.session_id, s.user_id, s.agent, s.channel, t.status, t.reason, coalesce(t.model, s.model) AS model, t.attempts,
  t.take_ups, t.created_at, t.started_at, t.ended_at, t.input_tokens::float8, t.cached_input_tokens::float8,
  t.cache_write_tokens::float8, t.output_tokens::float8, t.reasoning_tokens::float8, t.unpriced_tokens::float8,
  t.cost_usd::float8`;
export const TURN_ROW = {
  ...columnsOf(TurnEntity, 'id', 'sessionId', 'status', 'reason', 'attempts', 'takeUps'),
  ...columnsOf(TurnEntity, 'createdAt', 'startedAt', 'endedAt'),
  ...{ user_id: text, agent: text, channel: text, model: nullable(text) },
  ...{ input_tokens: double, cached_input_tokens: double, cache_write_tokens: double },
  ...{ output_tokens: double, reasoning_tokens: double, unpriced_tokens: double },
  cost_usd: nullable(double),
};
const FROM_TURNS = 'FROM turns AS t JOIN sessions AS s ON s.id = t.session_id';

const CONDITIONS = {
  session: 't.session_id = :session',
  status: 't.status = :status',
  since: 't.created_at >= :since',
  user: 's.user_id = :user',
  agent: 's.agent = :agent',
  bound: 's.user_id = :bound',
  agents: 's.agent = ANY (:agents)',
} as const;

/** Newest first, after a time and an id. */
export const LIST = statementsBy(Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[], (given) => ({
  name: ['turn_directory.list', ...given].join('.'),
  replanned: true,
  params: {
    ...{ afterTime: timestamp, afterId: text, most: bigint },
    ...{ session: optional(text), status: optional(oneOf<TurnStatus>()), since: optional(timestamp) },
    ...{
      user: optional(text),
      agent: optional(text),
      bound: optional(text),
      agents: optional(arrayOf(text)),
    },
  },
  row: TURN_ROW,
  sql: `
    SELECT ${TURN_COLUMNS} ${FROM_TURNS} WHERE (t.created_at, t.id) < (:afterTime::timestamptz, :afterId)${[...given].map((filter) => ` AND ${CONDITIONS[filter]}`).join('')}
    ORDER BY t.created_at DESC, t.id DESC LIMIT :most`,
}));

/** With its answer, but without the texts. */
export const FIND = statement({
  name: 'turn_directory.find',
  params: { turn: text },
  row: {
    ...{ ...TURN_ROW, fence: nullable(double) },
    /** Whether the message was accepted with 202, so that no caller waits with it. */
    accepted: boolean,
    ...columnsOf(TurnEntity, 'userMessageId', 'failure', 'failovers'),
    ...{ answer_id: nullable(text), answer_model: nullable(text), answered_at: nullable(timestamp) },
    ...{ finish_reason: nullable(text), incomplete: nullable(text) },
  },
  sql: `
    SELECT ${TURN_COLUMNS}, t.fence::float8, t.caller IS NOT NULL AS accepted, t.user_message_id, t.failure, t.failovers,
      said.id AS answer_id, said.model AS answer_model, said.finish_reason, said.incomplete, said.created_at AS answered_at
    ${FROM_TURNS} LEFT JOIN LATERAL (
      SELECT id, model, finish_reason, incomplete, created_at FROM messages
      WHERE session_id = t.session_id AND turn_id = t.id AND role = 'assistant' ORDER BY seq LIMIT 1
    ) AS said ON true
    WHERE t.id = :turn`,
});

/** The most steps shown of a turn. */
const MOST_STEPS = 2000;

/** Who called what and how it went, without texts, arguments and results. */
export const STEPS = statement({
  name: 'turn_directory.steps',
  params: { turn: text },
  row: {
    ...columnsOf(TurnStepEntity, 'number', 'createdAt'),
    ...{ kind: oneOf<'asked' | 'answered'>(), model: nullable(text) },
    spending: nullable(json<readonly ModelSpending[]>()),
    calls: nullable(json<readonly { readonly id: string; readonly name: string }[]>()),
    ...{
      call_id: nullable(text),
      is_error: nullable(boolean),
      status: nullable(text),
      duration_ms: nullable(double),
    },
  },
  sql: `
    SELECT number, kind, created_at, content ->> 'model' AS model, content -> 'spending' AS spending,
      (SELECT json_agg(json_build_object('id', call ->> 'id', 'name', call ->> 'name'))
       FROM json_array_elements(content -> 'calls') AS call) AS calls,
      content #>> '{result,callId}' AS call_id, (content #>> '{result,isError}')::boolean AS is_error,
      content #>> '{record,status}' AS status, (content #>> '{record,durationMs}')::float8 AS duration_ms
    FROM turn_steps WHERE turn_id = :turn AND kind IN ('asked', 'answered') ORDER BY number LIMIT ${MOST_STEPS}`,
});

/** What a session's turns used, what runs in it, and how many messages wait. */
export const OF_SESSION = statement({
  name: 'turn_directory.of_session',
  params: { session: text },
  row: {
    ...{
      cached_input_tokens: double,
      cache_write_tokens: double,
      reasoning_tokens: double,
      unpriced_tokens: double,
    },
    ...{ cost_usd: nullable(double), waiting: integer },
    /** The id of the turn that runs, or waits for a person. */
    running: nullable(text),
  },
  sql: `
    SELECT coalesce(sum(cached_input_tokens), 0)::float8 AS cached_input_tokens,
      coalesce(sum(cache_write_tokens), 0)::float8 AS cache_write_tokens,
      coalesce(sum(reasoning_tokens), 0)::float8 AS reasoning_tokens,
      coalesce(sum(unpriced_tokens), 0)::float8 AS unpriced_tokens, sum(cost_usd)::float8 AS cost_usd,
      (count(*) FILTER (WHERE status = 'waiting'))::int AS waiting,
      max(id) FILTER (WHERE status IN ('running', 'awaiting_approval')) AS running
    FROM turns WHERE session_id = :session`,
});

const audited = (from: string): string =>
  auditedSql({ action: 'turn.cancelled', subject: 'id', session: 'session_id', origin: ':origin', from });

/** Asks the replica that runs it to end it; a parked turn has to be woken afterwards. No row when it does not run. */
export const CANCEL_RUNNING = statement({
  name: 'turn_directory.cancel_running',
  params: { turn: text, origin: jsonb<unknown>() },
  row: { id: text },
  sql: `
    WITH asked AS (
      UPDATE sessions SET cancel_fence = turn_fence FROM turns
      WHERE turns.id = :turn AND turns.status IN ('running', 'awaiting_approval') AND sessions.id = turns.session_id
        AND sessions.turn_fence = turns.fence AND sessions.turn_owner IS NOT NULL
      RETURNING turns.id, sessions.id AS session_id
    ), audited AS (${audited('asked')})
    SELECT id FROM asked`,
});

/** An accepted message goes into the history at once, unanswered; `failure` is what its sender is told. */
export const CANCEL_WAITING = statement({
  name: 'turn_directory.cancel_waiting',
  params: { turn: text, origin: jsonb<unknown>(), failure: json<StoredError>() },
  row: { id: text },
  sql: `
    WITH taken AS (
      SELECT id, session_id, user_message_id FROM turns
      WHERE id = :turn AND status = 'waiting' AND caller IS NOT NULL FOR UPDATE
    ), counted AS (
      UPDATE sessions SET message_count = message_count + 1, turn_count = turn_count + 1,
        ${awaitsNoLonger('awaits_message_id = taken.user_message_id')}
      FROM taken WHERE sessions.id = taken.session_id RETURNING message_count
    ), said AS (
      UPDATE messages SET seq = counted.message_count FROM counted, taken WHERE messages.id = taken.user_message_id
    ), audited AS (${audited('taken')})
    UPDATE turns SET status = 'cancelled', reason = 'turn_cancelled', failure = :failure, ended_at = now()
    FROM taken WHERE turns.id = taken.id RETURNING turns.id`,
});
