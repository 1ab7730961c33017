import type { Statement } from '../../platform/database/sql.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import { hasMemories } from '../memory/memory.api.js';
import { newestSummary } from './context-cuts.store.js';
import { withinLimits } from './limits/spending.sql.js';
import { HISTORY_COLUMNS } from './message-row.js';
import { isWatchedElsewhere } from './relay/remote-turns.sql.js';
import { LEASE_SECS } from './turn-lease.js';

export const LEASE_END = `now() + interval '${LEASE_SECS} seconds'`;

/** What takes the session: `$2` is this replica. */
const CLAIM = `
  UPDATE sessions SET
    turn_fence = turn_fence + 1, turn_owner = $2, turn_lease_until = ${LEASE_END}, quiet_since = ${LEASE_END},
    last_activity = now(), status = 'active', awaits_message_id = NULL, message_count = message_count + 1, turn_count = turn_count + 1`;
/** Whether this message (`$6`) is what the session waits for; it goes before all that wait in its line. */
const AWAITED = `awaits_message_id IS NOT NULL AND awaits_message_id = $6`;
/** Sessions that live (`$3` time-out seconds) and answer nobody else. */
const FREE = `status <> 'terminated' AND turn_owner IS NULL AND quiet_since > now() - make_interval(secs => $3)`;
/** And wait for no other message, or not any longer: who is in line waits for outputs of tools; who speaks to a session without a line goes on without them. */
const FREE_FOR_LINE = `${FREE} AND (awaits_message_id IS NULL OR awaits_message_id = $6 OR quiet_since < now())`;

export const CLAIMED = `id, user_id, channel, agent, system_prompt, model, turn_fence::float8 AS fence, message_count,
  messages_cut, results_cut`;

/**
 * `$4` messages of history, newest first, as they were before this turn, without those that are cut. The sub-selects hide the
 * values from the planner, so that PostgreSQL keeps one plan: for the values that it saw it would make a new plan each time.
 */
const HISTORY = `
  (SELECT coalesce(json_agg(said_before), '[]') FROM (
     SELECT ${HISTORY_COLUMNS} FROM messages
     WHERE session_id = (SELECT $1) AND seq > (SELECT messages_cut FROM claimed) ORDER BY seq DESC LIMIT (SELECT $4::int8)) AS said_before) AS history`;
/** What stands for the messages that are cut. */
export const SUMMARY = `CASE WHEN claimed.messages_cut > 0 THEN ${newestSummary('(SELECT $1)')} END AS summary`;
/**
 * The same of a session that this replica holds: `$1` it, `$2` messages at most, `$3` those that are cut, `$4` the place of the one
 * that is answered. A statement that waits for the session's row sees that row as it is then, and all others as they were
 * when it began: without what was said meanwhile.
 */
export const READ_HISTORY: Statement = {
  name: 'turns.read_history',
  text: `
    SELECT (SELECT coalesce(json_agg(said_before), '[]') FROM (
        SELECT ${HISTORY_COLUMNS} FROM messages
        WHERE session_id = (SELECT $1) AND seq > (SELECT $3::int4) AND seq < (SELECT $4::int4)
        ORDER BY seq DESC LIMIT (SELECT $2::int8)) AS said_before) AS history,
      CASE WHEN $3::int4 > 0 THEN ${newestSummary('(SELECT $1)')} END AS summary`,
};
/** Whether viewers on other replicas want to see it from the beginning. */
export const WATCHED = `${isWatchedElsewhere('(SELECT $1)', '(SELECT $2)')} AS watched`;

/** What limits add to a statement that begins a turn; what was spent of the budgets is what its calls are compared with. */
interface LimitsSql {
  readonly standing: string;
  readonly within: string;
  readonly spent: string;
}
const UNLIMITED: LimitsSql = { standing: '', within: '', spent: '' };
const limited = (first: number): LimitsSql => {
  const { standing, condition } = withinLimits(first);
  return {
    standing: `${standing}, `,
    within: `AND ${condition}`,
    spent: ', (SELECT spent FROM budgets) AS budgets_spent',
  };
};

export const REMEMBERED = `${hasMemories('claimed.user_id')} AS remembered`;

/** What hooks hear of the message: its text only when they are to have it. */
const messageFacts = (content: string, attachments: string): string => {
  const facts = { session_id: 'id', channel: 'channel', user_id: 'user_id' };
  const message = { ...facts, turn_id: '$5::text', message_id: '$6::text', attachments, content };
  return `${emitSql('message.received', 'user_id', message)} AS deliveries`;
};

/**
 * Takes a free session in which nobody waits and whose limits leave room, stores the user message and the turn, and
 * reads the history: one trip. `$10` (`$8` of a message that waited) is its `TurnOrigin`.
 */
const startStatement = (name: string, { standing, within, spent }: LimitsSql): Statement => ({
  name,
  text: `
    WITH ${standing}claimed AS (
      ${CLAIM}
      WHERE id = $1 AND ${FREE}
        AND (${AWAITED} OR NOT EXISTS (SELECT 1 FROM turns WHERE session_id = $1 AND status = 'waiting' AND wait_until > now()))
        ${within}
      RETURNING ${CLAIMED}
    ), said AS (
      INSERT INTO messages (id, session_id, turn_id, seq, role, content, attachments)
      SELECT $6, $1, $5, message_count, 'user', $7, $8 FROM claimed
    ), turn AS (
      INSERT INTO turns (id, session_id, user_message_id, status, fence, owner, token_id, origin, started_at)
      SELECT $5, $1, $6, 'running', fence, $2, $11, $10, clock_timestamp() FROM claimed
    )
    SELECT claimed.*, ${HISTORY}, ${SUMMARY}, ${WATCHED}, ${REMEMBERED}, ${messageFacts('CASE WHEN $9::boolean THEN $7::text END', 'json_array_length($8::json)')}${spent}
    FROM claimed`,
});
export const START = startStatement('turns.begin_or_go_on', UNLIMITED);
/** A statement of its own: planned together with the limits, each execution would be planned anew. */
export const START_LIMITED = startStatement('turns.begin_or_go_on_limited', limited(11));

/** The same for a message that waited: only the first in line gets the session. */
const startWaiting = (name: string, { standing, within, spent }: LimitsSql): Statement => ({
  name,
  text: `
    WITH ${standing}claimed AS (
      ${CLAIM}
      WHERE id = $1 AND ${FREE_FOR_LINE} AND (${AWAITED} OR $5 = (
        SELECT id FROM turns WHERE session_id = $1 AND status = 'waiting' AND wait_until > now()
        ORDER BY arrival LIMIT 1))
        ${within}
      RETURNING ${CLAIMED}
    ), said AS (
      UPDATE messages SET seq = claimed.message_count FROM claimed WHERE messages.id = $6
      RETURNING content, attachments
    ), turn AS (
      UPDATE turns SET status = 'running', fence = claimed.fence, owner = $2, token_id = $9, origin = $8, started_at = clock_timestamp()
      FROM claimed WHERE turns.id = $5
    )
    SELECT claimed.*, ${HISTORY}, ${SUMMARY}, ${WATCHED}, ${REMEMBERED}, ${messageFacts('CASE WHEN $7::boolean THEN said.content END', 'json_array_length(said.attachments)')}${spent}
    FROM claimed, said`,
});
export const START_WAITING = startWaiting('turns.begin_waiting', UNLIMITED);
export const START_WAITING_LIMITED = startWaiting('turns.begin_waiting_limited', limited(9));

/**
 * One that was accepted, from `$4`, waits as long as it takes; another as long as the replica on which its caller waits keeps its
 * place (`KEEP_PLACES`), so that a replica that dies holds up nobody. `$5` is the API token, with which it ends.
 */
export const INSERT_WAITING_TURN: Statement = {
  name: 'turns.insert_waiting',
  text: `INSERT INTO turns (id, session_id, user_message_id, status, caller, token_id, options, wait_until)
         VALUES ($1, $2, $3, 'waiting', $4::json, $5, $6::json,
           CASE WHEN $4::json IS NULL THEN ${LEASE_END} ELSE 'infinity' END)`,
};
/** A place that was not kept in time is gone: others may have gone before it. */
export const KEEP_PLACES: Statement = {
  name: 'turns.keep_places',
  text: `UPDATE turns SET wait_until = ${LEASE_END}
         WHERE id = ANY ($1) AND status = 'waiting' AND wait_until > now() AND caller IS NULL RETURNING id`,
};
/** Any replica may take it: the first one does, and the others see that it waits no longer. */
export const LOCK_ACCEPTED: Statement = {
  name: 'turns.lock_accepted',
  text: `SELECT id FROM turns WHERE id = $1 AND status = 'waiting' FOR UPDATE SKIP LOCKED`,
};
export const INSERT_WAITING_MESSAGE: Statement = {
  name: 'turns.insert_waiting_message',
  text: `INSERT INTO messages (id, session_id, turn_id, role, content, attachments) VALUES ($1, $2, $3, 'user', $4, $5)`,
};
export const INSERT_ATTACHMENT: Statement = {
  name: 'turns.insert_attachment',
  text: `INSERT INTO attachments (id, message_id, data, token_family) VALUES ($1, $2, $3, $4)`,
};

/** A message that is not waited for any longer leaves no trace. */
export const LEAVE_QUEUE: Statement = {
  name: 'turns.leave_queue',
  text: `
    WITH gone AS (DELETE FROM turns WHERE id = $1 AND status = 'waiting' RETURNING user_message_id)
    DELETE FROM messages USING gone WHERE messages.id = gone.user_message_id RETURNING messages.id`,
};
const EXPIRED = `status = 'waiting' AND wait_until < now() - interval '1 second'`;
export const ANY_QUEUE_EXPIRED = `EXISTS (SELECT 1 FROM turns WHERE ${EXPIRED})`;
export const LEAVE_QUEUES_EXPIRED: Statement = {
  name: 'turns.leave_queues_expired',
  text: `
    WITH gone AS (
      DELETE FROM turns WHERE ${EXPIRED}
      RETURNING user_message_id)
    DELETE FROM messages USING gone WHERE messages.id = gone.user_message_id RETURNING messages.id`,
};
