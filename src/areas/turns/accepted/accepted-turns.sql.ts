import type { Statement } from '../../../platform/database/sql.js';

const ACCEPTED = `turns.status = 'waiting' AND turns.caller IS NOT NULL`;

const LIMIT_USAGE = `
    FROM turns JOIN sessions ON sessions.id = turns.session_id, LATERAL (
      SELECT sessions.status = 'terminated' OR sessions.quiet_since <= now() - make_interval(secs => $1) AS ended
    ) AS standing
    WHERE ${ACCEPTED} AND (standing.ended OR sessions.turn_owner IS NULL
      AND (sessions.awaits_message_id IS NULL OR sessions.awaits_message_id = turns.user_message_id OR sessions.quiet_since < now())
      AND (sessions.awaits_message_id = turns.user_message_id OR NOT EXISTS (
        SELECT 1 FROM turns AS ahead WHERE ahead.session_id = turns.session_id AND ahead.status = 'waiting'
          AND ahead.arrival < turns.arrival AND ahead.wait_until > now())))`;

/** Whether there are any of those: `$1` as below. */
export const ANY_DUE = `EXISTS (SELECT 1 ${LIMIT_USAGE})`;

/**
 * Accepted messages whose turn it is, and all of those whose session has ended: `$1` its time-out in seconds, `$2` how many
 * at most. The oldest of every API token come first, so that one that is at its limit holds up no other, and of an ended
 * session its oldest.
 */
export const DUE: Statement = {
  name: 'accepted_turns.due',
  text: `
    SELECT turns.id, turns.session_id, turns.user_message_id, turns.caller, standing.ended ${LIMIT_USAGE}
    ORDER BY row_number() OVER (
      PARTITION BY CASE WHEN standing.ended THEN turns.session_id ELSE turns.caller->>'tokenId' END
      ORDER BY turns.arrival), turns.arrival
    LIMIT $2`,
};

export const ANY: Statement = {
  name: 'accepted_turns.any',
  text: `SELECT EXISTS (SELECT 1 FROM turns WHERE ${ACCEPTED}) AS any`,
};

export const MESSAGE: Statement = {
  name: 'accepted_turns.message',
  text: `
    SELECT content, attachments, turns.options FROM messages JOIN turns ON turns.id = messages.turn_id
    WHERE messages.id = $1`,
};

/**
 * Assignments for the session of messages that are cancelled while they wait: outputs of tools that it waited for were among
 * them when `isCancelled`, and it waits no longer. Else nothing would be taken by it until its hour is over.
 */
export const awaitsNoLonger = (isCancelled: string): string => `
        awaits_message_id = CASE WHEN ${isCancelled} THEN NULL ELSE awaits_message_id END,
        quiet_since = CASE WHEN ${isCancelled} THEN now() ELSE quiet_since END`;

/** Message `$1` will not be answered: it is in the history at once, and says so. `$2` is what is told. */
const cancelWaiting = (name: string, reason: string): Statement => ({
  name,
  text: `
    WITH taken AS (
      SELECT id, session_id, user_message_id FROM turns WHERE id = $1 AND status = 'waiting' FOR UPDATE
    ), counted AS (
      UPDATE sessions SET message_count = message_count + 1, turn_count = turn_count + 1,
        ${awaitsNoLonger('awaits_message_id = taken.user_message_id')}
      FROM taken WHERE sessions.id = taken.session_id RETURNING message_count
    ), said AS (
      UPDATE messages SET seq = counted.message_count FROM counted, taken WHERE messages.id = taken.user_message_id
    )
    UPDATE turns SET status = 'cancelled', reason = '${reason}', failure = $2, ended_at = now()
    FROM taken WHERE turns.id = taken.id RETURNING turns.id`,
});
/** Its session ended before it could be answered. */
export const CANCEL_ENDED = cancelWaiting('accepted_turns.cancel_of_ended', 'session_ended');
/** Whoever sent it wants no answer any more. */
export const CANCEL_UNWANTED = cancelWaiting('accepted_turns.cancel_unwanted', 'turn_cancelled');
