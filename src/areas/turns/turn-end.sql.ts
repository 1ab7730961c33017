import type { StoredError } from '../../common/errors/gateway-error.js';
import {
  arrayOf,
  bigint,
  boolean,
  double,
  integer,
  json,
  nullable,
  oneOf,
  text,
  timestamp,
} from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import type { FinishReason } from '../models/models.api.js';
import type { ToolCallRecord } from '../tools/tools.api.js';
import { RECORD_USAGE_OF_LOST, recordUsage, TURN_COST } from '../usage/usage.api.js';
import { spend, spendInSession } from './limits/spending.sql.js';
import { LOST, mayGoOn } from './lost/lost-turns.sql.js';
import { isWatchedElsewhere } from './relay/remote-turns.sql.js';
import { HELD_LEASE, LEASE_PARAMS, LEASE_SECS, type TurnFailure } from './turn-lease.js';

const LEASE_END = `now() + interval '${LEASE_SECS} seconds'`;
const HELD = `WHERE ${HELD_LEASE}`;
const RELEASE = `turn_owner = NULL, turn_lease_until = NULL, quiet_since = now(), last_activity = now()`;
/** A session that waits for outputs of its caller's tools stays active for this long, and takes no other message. */
const AWAITS = `interval '1 hour'`;
/** The same; `:awaits` is the id of the message whose outputs the session waits for, if it does. */
const RELEASE_OR_AWAIT = `turn_owner = NULL, turn_lease_until = NULL, last_activity = now(), awaits_message_id = :awaits,
        quiet_since = CASE WHEN :awaits::text IS NULL THEN now() ELSE now() + ${AWAITS} END`;

/** What every event of a turn says about its session. */
const FACTS = {
  session_id: ':session::text',
  turn_id: ':turn::text',
  channel: 'held.channel',
  user_id: 'held.user_id',
};

const TOOL_EXECUTED = emitSql('tool.executed', 'held.user_id', {
  ...FACTS,
  tool_call_id: 'call.id',
  name: 'call.name',
  status: 'call.status',
  duration_ms: 'call.duration_ms',
});
const MESSAGE_SENT = emitSql('message.sent', 'held.user_id', {
  ...FACTS,
  message_id: ':answer::text',
  model: ':model::text',
  tokens_used: ':input::bigint + :output::bigint',
  tool_calls: 'json_array_length(:toolFacts::json)',
  content: 'CASE WHEN :withContent::boolean THEN :content::text END',
  finish_reason: ':finishReason::text',
});

/** What both ends of a turn write. */
const ENDING_PARAMS = {
  ...LEASE_PARAMS,
  ...{
    turn: text,
    answer: nullable(text),
    content: text,
    model: text,
    input: bigint,
    output: bigint,
    isEstimated: boolean,
  },
  toolCalls: json<ToolCallRecord[]>(),
  /** The calls that were made, without arguments and results. */
  toolFacts: json<unknown[]>(),
  /** What was used of each model: `TurnSpending.rows()`. */
  usage: json<unknown[]>(),
  /** Its name. */
  apiToken: text,
};

/** Stores the answer, the token counts, the turn's end, the release of the session and the events: all or nothing. */
export const COMPLETE = statement({
  name: 'turns.complete',
  params: {
    ...ENDING_PARAMS,
    answer: text,
    withContent: boolean,
    finishReason: nullable(oneOf<FinishReason>()),
    awaits: nullable(text),
  },
  row: { created_at: timestamp, deliveries: integer },
  sql: `
    WITH held AS (
      UPDATE sessions SET ${RELEASE_OR_AWAIT}, message_count = message_count + 1,
        input_tokens = input_tokens + :input, output_tokens = output_tokens + :output, ${spendInSession(':input', ':output')}
      ${HELD} RETURNING message_count, channel, user_id, agent
    ), ${recordUsage(':usage::json', ':apiToken::text')}, answered AS (
      INSERT INTO messages
        (id, session_id, turn_id, seq, role, content, tool_calls, tokens_used, model, finish_reason, usage_estimated)
      SELECT :answer, :session, :turn, message_count, 'assistant', :content, :toolCalls, :input::bigint + :output::bigint, :model, :finishReason, :isEstimated FROM held
      RETURNING created_at
    ), closed AS (
      UPDATE turns SET status = 'completed', origin = NULL, ended_at = now(), model = :model, input_tokens = :input, output_tokens = :output,
        ${TURN_COST}
      FROM held, total WHERE turns.id = :turn AND turns.session_id = :session RETURNING turns.token_id
    ), spent AS (${spend(':input::bigint', ':output::bigint')}
    )
    SELECT created_at,
      (SELECT coalesce(sum(${TOOL_EXECUTED}), 0)::int FROM json_to_recordset(:toolFacts::json)
         AS call (id text, name text, status text, duration_ms float8))
      + ${MESSAGE_SENT} AS deliveries
    FROM answered, held`,
});

const TURN_FAILED = emitSql('error.occurred', 'user_id', {
  source: `'turn'`,
  reason: 'reason',
  session_id: 'session_id',
  turn_id: 'id',
});

/** Ends a turn without a whole answer; `answer` is the id of what it had said, if that is kept. */
export const CLOSE = statement({
  name: 'turns.close',
  params: { ...ENDING_PARAMS, how: oneOf<TurnFailure>(), reason: text, failure: json<StoredError>() },
  row: { deliveries: integer },
  sql: `
    WITH held AS (
      UPDATE sessions SET ${RELEASE}, message_count = message_count + CASE WHEN :answer::text IS NULL THEN 0 ELSE 1 END,
        input_tokens = input_tokens + :input, output_tokens = output_tokens + :output, ${spendInSession(':input', ':output')}
      ${HELD} RETURNING message_count, channel, user_id, agent
    ), ${recordUsage(':usage::json', ':apiToken::text')}, said AS (
      INSERT INTO messages
        (id, session_id, turn_id, seq, role, content, tool_calls, tokens_used, model, incomplete, usage_estimated)
      SELECT :answer, :session, :turn, message_count, 'assistant', :content, :toolCalls, :input::bigint + :output::bigint, :model, :how, :isEstimated
      FROM held WHERE :answer::text IS NOT NULL
    ), closed AS (
      UPDATE turns SET status = :how, origin = NULL, reason = :reason, failure = :failure, ended_at = now(), model = :model, input_tokens = :input, output_tokens = :output,
        ${TURN_COST}
      FROM held, total WHERE turns.id = :turn AND turns.session_id = :session
      RETURNING turns.id, turns.session_id, turns.status, turns.reason, turns.token_id, held.user_id
    ), spent AS (${spend(':input::bigint', ':output::bigint')}
    )
    SELECT CASE WHEN status <> 'cancelled' THEN ${TURN_FAILED} ELSE 0 END
      + (SELECT coalesce(sum(${TOOL_EXECUTED}), 0)::int FROM held, json_to_recordset(:toolFacts::json)
           AS call (id text, name text, status text, duration_ms float8)) AS deliveries FROM closed`,
});

/** Renews the leases of what this replica runs. */
export const RENEW = statement({
  name: 'turns.renew',
  params: { replica: text, sessions: arrayOf(text) },
  row: { id: text, fence: double },
  sql: `
    UPDATE sessions SET turn_lease_until = ${LEASE_END}, quiet_since = ${LEASE_END}
    WHERE id = ANY (:sessions) AND turn_owner = :replica RETURNING id, turn_fence::float8 AS fence`,
});
/** Requests of others about the turns that this replica runs: to cancel or to show them. */
export const SIGNALS = statement({
  name: 'turns.signals',
  params: { sessions: arrayOf(text), replica: text },
  row: { id: text, ended: boolean, cancelled: boolean, watched: boolean },
  sql: `
    SELECT id, status = 'terminated' AS ended, coalesce(cancel_fence = turn_fence, false) AS cancelled,
      ${isWatchedElsewhere('sessions.id', ':replica')} AS watched
    FROM sessions WHERE id = ANY (:sessions)`,
});
export const CANCEL = statement({
  name: 'turns.cancel',
  params: { session: text },
  row: { id: text },
  sql: `UPDATE sessions SET cancel_fence = turn_fence WHERE id = :session AND turn_owner IS NOT NULL RETURNING id`,
});
/** The same for one turn alone: a turn that followed it meanwhile has another fence. */
export const CANCEL_TURN = statement({
  name: 'turns.cancel_turn',
  params: { turn: text },
  row: { id: text, fence: double },
  sql: `
    UPDATE sessions SET cancel_fence = turn_fence FROM turns
    WHERE turns.id = :turn AND turns.status IN ('running', 'awaiting_approval') AND sessions.id = turns.session_id
      AND sessions.turn_fence = turns.fence AND turn_owner IS NOT NULL
    RETURNING sessions.id, turn_fence::float8 AS fence`,
});

/** How many turns one sweep closes at most. */
export const MAX_RECOVERED = 100;

/** Whether there are turns whose owner is gone. */
export const ANY_LOST = `EXISTS (SELECT 1 ${LOST})`;

/**
 * Closes turns whose owner is gone and that may not continue as interrupted, with a new fence in case the owner comes
 * back and a note in the history. Turns of sessions that were ended meanwhile count as cancelled.
 */
export const INTERRUPT_LOST = statement({
  name: 'turns.interrupt_lost',
  params: {
    /** Ids for the notes in the history. */
    ids: arrayOf(text),
    /** The texts of the notes; `endedNote` is for sessions that were ended. */
    ...{ note: text, endedNote: text },
    /** `agent.resume` and `turns.max_attempts`. */
    ...{ mayResume: boolean, maxAttempts: integer },
  },
  row: {
    ...{ id: text, session_id: text, status: oneOf<'interrupted' | 'cancelled'>(), reason: text },
    deliveries: integer,
  },
  sql: `
    WITH lost AS (
      SELECT sessions.id, sessions.user_id, sessions.agent, sessions.channel, turns.id AS turn_id, turns.token_id,
        coalesce(turns.model, sessions.model) AS model, sessions.status = 'terminated' AS cancelled ${LOST} AND NOT ${mayGoOn(':mayResume::boolean', ':maxAttempts')}
      LIMIT ${MAX_RECOVERED} FOR UPDATE OF sessions, turns SKIP LOCKED
    ), ${RECORD_USAGE_OF_LOST}, freed AS (
      UPDATE sessions SET turn_owner = NULL, turn_lease_until = NULL, turn_fence = turn_fence + 1,
        quiet_since = now(), message_count = message_count + 1, input_tokens = sessions.input_tokens + total.input_tokens,
        output_tokens = sessions.output_tokens + total.output_tokens, ${spendInSession('total.input_tokens', 'total.output_tokens')}
      FROM lost JOIN total ON total.turn_id = lost.turn_id WHERE sessions.id = lost.id AND sessions.turn_lease_until < now()
      RETURNING sessions.id, lost.turn_id, sessions.message_count, lost.cancelled
    ), numbered AS (
      SELECT freed.*, row_number() OVER () AS n FROM freed
    ), noted AS (
      INSERT INTO messages (id, session_id, turn_id, seq, role, content, incomplete)
      SELECT (:ids::text[])[n], id, turn_id, message_count, 'assistant', CASE WHEN cancelled THEN :endedNote ELSE :note END,
        CASE WHEN cancelled THEN 'cancelled' ELSE 'interrupted' END FROM numbered
    ), closed AS (
      UPDATE turns SET status = CASE WHEN lost.cancelled THEN 'cancelled' ELSE 'interrupted' END, origin = NULL,
        reason = CASE WHEN lost.cancelled THEN 'turn_cancelled' ELSE 'lease_expired' END, ended_at = now(),
        input_tokens = total.input_tokens, output_tokens = total.output_tokens, ${TURN_COST}
      FROM lost JOIN total ON total.turn_id = lost.turn_id WHERE turns.id = lost.turn_id
      RETURNING turns.id, turns.session_id, turns.status, turns.reason, lost.user_id
    ), billed AS (
      SELECT lost.token_id, sum(input_tokens) AS input, sum(output_tokens) AS output
      FROM lost JOIN total ON total.turn_id = lost.turn_id GROUP BY lost.token_id
    ), charged AS (${spend('input', 'output', 'billed')}
    )
    SELECT id, session_id, status, reason, CASE WHEN status <> 'cancelled' THEN ${TURN_FAILED} ELSE 0 END AS deliveries FROM closed`,
});
