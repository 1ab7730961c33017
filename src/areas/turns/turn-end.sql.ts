import type { Statement } from '../../platform/database/sql.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { RECORD_USAGE_OF_LOST, recordUsage, TURN_COST } from '../usage/usage.api.js';
import { spend, spendInSession } from './limits/spending.sql.js';
import { LOST, mayGoOn } from './lost/lost-turns.sql.js';
import { isWatchedElsewhere } from './relay/remote-turns.sql.js';
import { LEASE_SECS } from './turn-lease.js';

const LEASE_END = `now() + interval '${LEASE_SECS} seconds'`;
/** `$1` session, `$2` fence, `$3` replica: whoever lost the lease changes nothing. */
const HELD = 'WHERE id = $1 AND turn_fence = $2 AND turn_owner = $3';
const RELEASE = `turn_owner = NULL, turn_lease_until = NULL, quiet_since = now(), last_activity = now()`;
/** A session that waits for outputs of its caller's tools stays active for so long, and takes no other message. */
const AWAITS = `interval '1 hour'`;
/** The same release; `$17` is the id of the message with the outputs that it waits for, if it does. */
const RELEASE_OR_AWAIT = `turn_owner = NULL, turn_lease_until = NULL, last_activity = now(), awaits_message_id = $17,
        quiet_since = CASE WHEN $17::text IS NULL THEN now() ELSE now() + ${AWAITS} END`;

/** What every event of a turn tells of its session. */
const FACTS = {
  session_id: '$1::text',
  turn_id: '$4::text',
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
  message_id: '$5::text',
  model: '$10::text',
  tokens_used: '$6::bigint + $7::bigint',
  tool_calls: 'json_array_length($11::json)',
  content: 'CASE WHEN $12::boolean THEN $8::text END',
  finish_reason: '$13::text',
});

/**
 * The answer, the token counts, the turn's end, the release of the session and the events: all or nothing. `$11` are
 * the tool calls that were made, without what went in and out, `$12` whether hooks are to have the text, `$13` why the model stopped, `$14`
 * whether the counts are estimates, `$15` what was used of each model, `$16` the name of the API token.
 */
export const COMPLETE: Statement = {
  name: 'turns.complete',
  text: `
    WITH held AS (
      UPDATE sessions SET ${RELEASE_OR_AWAIT}, message_count = message_count + 1,
        input_tokens = input_tokens + $6, output_tokens = output_tokens + $7, ${spendInSession('$6', '$7')}
      ${HELD} RETURNING message_count, channel, user_id, agent
    ), ${recordUsage('$15::json', '$16::text')}, answered AS (
      INSERT INTO messages
        (id, session_id, turn_id, seq, role, content, tool_calls, tokens_used, model, finish_reason, usage_estimated)
      SELECT $5, $1, $4, message_count, 'assistant', $8, $9, $6::bigint + $7::bigint, $10, $13, $14 FROM held
      RETURNING created_at
    ), closed AS (
      UPDATE turns SET status = 'completed', origin = NULL, ended_at = now(), model = $10, input_tokens = $6, output_tokens = $7,
        ${TURN_COST}
      FROM held, total WHERE turns.id = $4 RETURNING turns.token_id
    ), spent AS (${spend('$6::bigint', '$7::bigint')}
    )
    SELECT created_at,
      (SELECT coalesce(sum(${TOOL_EXECUTED}), 0)::int FROM json_to_recordset($11::json)
         AS call (id text, name text, status text, duration_ms float8))
      + ${MESSAGE_SENT} AS deliveries
    FROM answered, held`,
};

const TURN_FAILED = emitSql('error.occurred', 'user_id', {
  source: `'turn'`,
  reason: 'reason',
  session_id: 'session_id',
  turn_id: 'id',
});

/**
 * A turn without a whole answer: `$5` how it ended, `$6` why; `$9` the id of what it had said, if that is kept; `$14` what was told, `$15` whether the counts are
 * estimates, `$16` what was used of each model, `$17` the name of the API token.
 */
export const CLOSE: Statement = {
  name: 'turns.close',
  text: `
    WITH held AS (
      UPDATE sessions SET ${RELEASE}, message_count = message_count + CASE WHEN $9::text IS NULL THEN 0 ELSE 1 END,
        input_tokens = input_tokens + $7, output_tokens = output_tokens + $8, ${spendInSession('$7', '$8')}
      ${HELD} RETURNING message_count, channel, user_id, agent
    ), ${recordUsage('$16::json', '$17::text')}, said AS (
      INSERT INTO messages
        (id, session_id, turn_id, seq, role, content, tool_calls, tokens_used, model, incomplete, usage_estimated)
      SELECT $9, $1, $4, message_count, 'assistant', $10, $11, $7::bigint + $8::bigint, $12, $5, $15
      FROM held WHERE $9::text IS NOT NULL
    ), closed AS (
      UPDATE turns SET status = $5, origin = NULL, reason = $6, failure = $14, ended_at = now(), model = $12, input_tokens = $7, output_tokens = $8,
        ${TURN_COST}
      FROM held, total WHERE turns.id = $4
      RETURNING turns.id, turns.session_id, turns.status, turns.reason, turns.token_id, held.user_id
    ), spent AS (${spend('$7::bigint', '$8::bigint')}
    )
    SELECT CASE WHEN status <> 'cancelled' THEN ${TURN_FAILED} ELSE 0 END
      + (SELECT coalesce(sum(${TOOL_EXECUTED}), 0)::int FROM held, json_to_recordset($13::json)
           AS call (id text, name text, status text, duration_ms float8)) AS deliveries FROM closed`,
};

/** Holds what this replica (`$1`) runs, and says which of it is wanted no longer. */
export const RENEW: Statement = {
  name: 'turns.renew',
  text: `
    UPDATE sessions SET turn_lease_until = ${LEASE_END}, quiet_since = ${LEASE_END}
    WHERE id = ANY ($2) AND turn_owner = $1 RETURNING id, turn_fence::float8 AS fence`,
};
/** What others want of the turns that this replica (`$2`) runs. */
export const SIGNALS: Statement = {
  name: 'turns.signals',
  text: `
    SELECT id, status = 'terminated' AS ended, coalesce(cancel_fence = turn_fence, false) AS cancelled,
      ${isWatchedElsewhere('sessions.id', '$2')} AS watched
    FROM sessions WHERE id = ANY ($1)`,
};
export const CANCEL: Statement = {
  name: 'turns.cancel',
  text: `UPDATE sessions SET cancel_fence = turn_fence WHERE id = $1 AND turn_owner IS NOT NULL RETURNING id`,
};
/** The same of turn `$1` alone: one that has followed it meanwhile has another fence. */
export const CANCEL_TURN: Statement = {
  name: 'turns.cancel_turn',
  text: `
    UPDATE sessions SET cancel_fence = turn_fence FROM turns
    WHERE turns.id = $1 AND turns.status IN ('running', 'awaiting_approval') AND sessions.id = turns.session_id
      AND sessions.turn_fence = turns.fence AND turn_owner IS NOT NULL
    RETURNING sessions.id, turn_fence::float8 AS fence`,
};

/** Turns that one sweep closes at most. */
export const MAX_RECOVERED = 100;

/** Whether there are turns whose owner is gone. */
export const ANY_LOST = `EXISTS (SELECT 1 ${LOST})`;

/**
 * Turns whose owner is gone and that may not go on: closed as interrupted, fenced off in case it comes back, and told so in
 * the history: `$1` ids for the notes, `$2` what they say, `$3` `agent.resume`, `$4` `turns.max_attempts`. Those of sessions
 * that were ended meanwhile count as cancelled: `$5` is what the history says then.
 */
export const INTERRUPT_LOST: Statement = {
  name: 'turns.interrupt_lost',
  text: `
    WITH lost AS (
      SELECT sessions.id, sessions.user_id, sessions.agent, sessions.channel, turns.id AS turn_id, turns.token_id,
        coalesce(turns.model, sessions.model) AS model, sessions.status = 'terminated' AS cancelled ${LOST} AND NOT ${mayGoOn('$3::boolean', '$4')}
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
      SELECT ($1::text[])[n], id, turn_id, message_count, 'assistant', CASE WHEN cancelled THEN $5 ELSE $2 END,
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
};
