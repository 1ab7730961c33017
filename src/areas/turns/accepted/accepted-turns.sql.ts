import type { StoredError } from '../../../common/errors/gateway-error.js';
import { columnsOf } from '../../../platform/database/entity-columns.js';
import { bigint, boolean, double, json, nullable, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { dueQuestion } from '../../../platform/runtime/due-question.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { AttachmentInfo } from '../message.js';
import type { MessageOptions } from '../message-options.js';
import { TurnEntity } from '../turn.entity.js';

const ACCEPTED = `turns.status = 'waiting' AND turns.caller IS NOT NULL`;

/** Accepted messages for which something can be done now; `timeoutSecs` is SQL. */
const due = (timeoutSecs: string): string => `
    FROM turns JOIN sessions ON sessions.id = turns.session_id, LATERAL (
      SELECT sessions.status = 'terminated' OR sessions.quiet_since <= now() - make_interval(secs => ${timeoutSecs}) AS ended
    ) AS standing
    WHERE ${ACCEPTED} AND (standing.ended OR sessions.turn_owner IS NULL
      AND (sessions.awaits_message_id IS NULL OR sessions.awaits_message_id = turns.user_message_id OR sessions.quiet_since < now())
      AND (sessions.awaits_message_id = turns.user_message_id OR NOT EXISTS (
        SELECT 1 FROM turns AS ahead WHERE ahead.session_id = turns.session_id AND ahead.status = 'waiting'
          AND ahead.arrival < turns.arrival AND ahead.wait_until > now())))`;

/** Whether there are any such messages; the parameter is a session's time-out. */
export const ANY_DUE = dueQuestion({
  name: 'accepted_turns',
  params: { acceptedTimeoutSecs: double },
  answer: boolean,
  sql: `EXISTS (SELECT 1 ${due(':acceptedTimeoutSecs')})`,
});

/**
 * Accepted messages whose turn it is, and all messages of ended sessions. The oldest of each API token comes first, so
 * that a token at its limit holds up no other; of an ended session, the oldest first.
 */
export const DUE = statement({
  name: 'accepted_turns.due',
  params: { timeoutSecs: double, most: bigint },
  row: {
    ...columnsOf(TurnEntity, 'id', 'sessionId', 'userMessageId'),
    ...{ caller: json<Caller>(), ended: boolean },
  },
  sql: `
    SELECT turns.id, turns.session_id, turns.user_message_id, turns.caller, standing.ended ${due(':timeoutSecs')}
    ORDER BY row_number() OVER (
      PARTITION BY CASE WHEN standing.ended THEN turns.session_id ELSE turns.caller->>'tokenId' END
      ORDER BY turns.arrival), turns.arrival
    LIMIT :most`,
});

export const ANY = statement({
  name: 'accepted_turns.any',
  params: {},
  row: { any: boolean },
  sql: `SELECT EXISTS (SELECT 1 FROM turns WHERE ${ACCEPTED}) AS any`,
});

export const MESSAGE = statement({
  name: 'accepted_turns.message',
  params: { session: text, message: text },
  row: { content: text, attachments: json<AttachmentInfo[]>(), options: nullable(json<MessageOptions>()) },
  sql: `
    SELECT content, attachments, turns.options FROM messages JOIN turns ON turns.id = messages.turn_id AND turns.session_id = messages.session_id
    WHERE messages.id = :message AND messages.session_id = :session`,
});

/**
 * Assignments for the session of messages that are cancelled while they wait. With `isCancelled`, the outputs of tools
 * that the session waits for were among them, so it stops waiting: otherwise it would take no message until its hour is
 * over.
 */
export const awaitsNoLonger = (isCancelled: string): string => `
        awaits_message_id = CASE WHEN ${isCancelled} THEN NULL ELSE awaits_message_id END,
        quiet_since = CASE WHEN ${isCancelled} THEN now() ELSE quiet_since END`;

/** Shows a message that will not be answered in the history at once; `failure` is what its sender is told. */
const CANCEL_PARAMS = { turn: text, failure: json<StoredError>() };
const cancelWaiting = (reason: string): string => `
    WITH taken AS (
      SELECT id, session_id, user_message_id FROM turns WHERE id = :turn AND status = 'waiting' FOR UPDATE
    ), counted AS (
      UPDATE sessions SET message_count = message_count + 1, turn_count = turn_count + 1,
        ${awaitsNoLonger('awaits_message_id = taken.user_message_id')}
      FROM taken WHERE sessions.id = taken.session_id RETURNING message_count
    ), said AS (
      UPDATE messages SET seq = counted.message_count FROM counted, taken WHERE messages.id = taken.user_message_id
    )
    UPDATE turns SET status = 'cancelled', reason = '${reason}', failure = :failure, ended_at = now()
    FROM taken WHERE turns.id = taken.id RETURNING turns.id`;
/** Its session ended before it could be answered. */
export const CANCEL_ENDED = statement({
  name: 'accepted_turns.cancel_of_ended',
  params: CANCEL_PARAMS,
  row: { id: text },
  sql: cancelWaiting('session_ended'),
});
/** Its sender no longer wants an answer. */
export const CANCEL_UNWANTED = statement({
  name: 'accepted_turns.cancel_unwanted',
  params: CANCEL_PARAMS,
  row: { id: text },
  sql: cancelWaiting('turn_cancelled'),
});
