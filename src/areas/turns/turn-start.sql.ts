import {
  arrayOf,
  bigint,
  boolean,
  bytes,
  double,
  integer,
  json,
  nullable,
  text,
} from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { hasMemories } from '../memory/memory.api.js';
import { LIMIT_PARAMS, WITHIN_LIMITS } from './limits/spending.sql.js';
import type { TurnOrigin } from './lost/turn-origin.js';
import type { AttachmentInfo, HistoryMessage } from './message.js';
import type { MessageOptions } from './message-options.js';
import { HISTORY_COLUMNS } from './message-row.js';
import { newestSummary, type Summary } from './prompt/context-cuts.store.js';
import { isWatchedElsewhere } from './relay/remote-turns.sql.js';
import { LEASE_SECS } from './turn-lease.js';

/** From now on, also in a transaction that has waited for something since it began. */
export const LEASE_END = `clock_timestamp() + interval '${LEASE_SECS} seconds'`;

/** Takes the session for this replica. */
const CLAIM = `
  UPDATE sessions SET
    turn_fence = turn_fence + 1, turn_owner = :replica, turn_lease_until = ${LEASE_END}, quiet_since = ${LEASE_END},
    last_activity = now(), status = 'active', awaits_message_id = NULL, message_count = message_count + 1, turn_count = turn_count + 1`;
/** Whether the session waits for this message; it then goes before all messages in line. */
const AWAITED = `awaits_message_id IS NOT NULL AND awaits_message_id = :message`;
/** Sessions that have not ended and have no running turn. */
const FREE = `status <> 'terminated' AND turn_owner IS NULL AND quiet_since > now() - make_interval(secs => :timeoutSecs)`;
/**
 * Of these, sessions that wait for no other message, or no longer do. A message in line waits until the outputs of
 * tools have come; a message to a session without a line does not wait for them.
 */
const FREE_FOR_LINE = `${FREE} AND (awaits_message_id IS NULL OR awaits_message_id = :message OR quiet_since < now())`;

export const CLAIMED = `id, user_id, channel, agent, system_prompt, model, turn_fence::float8 AS fence, message_count,
  messages_cut, results_cut`;
/** The row for a turn that has taken its session. */
export const CLAIMED_ROW = {
  ...{
    id: text,
    user_id: text,
    channel: text,
    agent: text,
    system_prompt: nullable(text),
    model: nullable(text),
  },
  fence: double,
  /** Messages of the session, the one that this turn answers included. */
  message_count: integer,
  ...{ messages_cut: integer, results_cut: integer },
  /** Newest first. */
  history: json<HistoryMessage[]>(),
  /** Null when nothing is cut, or nothing that is cut was summarised. */
  summary: nullable(json<Summary>()),
  ...{ watched: boolean, remembered: boolean },
  /** How many hooks the message is delivered to. */
  deliveries: integer,
};
/** In US dollars, for the budgets that limit the turn. */
const SPENT_ROW = { budgets_spent: json<number[]>() };

/**
 * The messages of the history before this turn, newest first, without those that are cut. The sub-selects hide the
 * values from the planner, so that PostgreSQL keeps one plan; otherwise it would plan again for each value.
 */
const HISTORY = `
  (SELECT coalesce(json_agg(said_before), '[]') FROM (
     SELECT ${HISTORY_COLUMNS} FROM messages
     WHERE session_id = (SELECT :session) AND seq > (SELECT messages_cut FROM claimed) ORDER BY seq DESC LIMIT (SELECT :historyMessages::int8)) AS said_before) AS history`;
/** The summary of the messages that are cut. */
export const SUMMARY = `CASE WHEN claimed.messages_cut > 0 THEN ${newestSummary('(SELECT :session)')} END AS summary`;
/**
 * The same for a session that this replica holds, up to the message at `place`, which is answered. A statement that
 * waits for the session's row sees that row as it is after the wait, but all other rows as they were before: what was
 * said meanwhile is missing.
 */
export const READ_HISTORY = statement({
  name: 'turns.read_history',
  params: { session: text, historyMessages: bigint, cut: integer, place: integer },
  row: { history: CLAIMED_ROW.history, summary: CLAIMED_ROW.summary },
  sql: `
    SELECT (SELECT coalesce(json_agg(said_before), '[]') FROM (
        SELECT ${HISTORY_COLUMNS} FROM messages
        WHERE session_id = (SELECT :session) AND seq > (SELECT :cut::int4) AND seq < (SELECT :place::int4)
        ORDER BY seq DESC LIMIT (SELECT :historyMessages::int8)) AS said_before) AS history,
      CASE WHEN :cut::int4 > 0 THEN ${newestSummary('(SELECT :session)')} END AS summary`,
});
/** Whether viewers on other replicas want to see it from the beginning. */
export const WATCHED = `${isWatchedElsewhere('(SELECT :session)', '(SELECT :replica)')} AS watched`;

/** What limits add to a statement that begins a turn; budgets are compared with what was spent before each call. */
interface LimitsSql {
  readonly standing: string;
  readonly within: string;
  readonly spent: string;
}
const UNLIMITED: LimitsSql = { standing: '', within: '', spent: '' };
const LIMITED: LimitsSql = {
  standing: `${WITHIN_LIMITS.standing}, `,
  within: `AND ${WITHIN_LIMITS.condition}`,
  spent: ', (SELECT spent FROM budgets) AS budgets_spent',
};

export const REMEMBERED = `${hasMemories('claimed.user_id')} AS remembered`;

/** What hooks get of the message: its text only when they are configured to have it. */
const messageFacts = (content: string, attachments: string): string => {
  const facts = { session_id: 'id', channel: 'channel', user_id: 'user_id' };
  const message = { ...facts, turn_id: ':turn::text', message_id: ':message::text', attachments, content };
  return `${emitSql('message.received', 'user_id', message)} AS deliveries`;
};

/** Parameters of every statement that begins a turn; `origin` is its `TurnOrigin`. */
const TURN_PARAMS = {
  ...{ session: text, replica: text, timeoutSecs: double, historyMessages: bigint },
  ...{ turn: text, message: text, withContent: boolean, origin: json<TurnOrigin>(), token: text },
};
const NEW_TURN_PARAMS = { ...TURN_PARAMS, content: text, attachments: json<AttachmentInfo[]>() };

/**
 * Takes a free session in which no message waits and whose limits leave room, stores the user message and the turn, and
 * reads the history, in one round trip.
 */
const startSql = ({ standing, within, spent }: LimitsSql): string => `
    WITH ${standing}claimed AS (
      ${CLAIM}
      WHERE id = :session AND ${FREE}
        AND (${AWAITED} OR NOT EXISTS (SELECT 1 FROM turns WHERE session_id = :session AND status = 'waiting' AND wait_until > now()))
        ${within}
      RETURNING ${CLAIMED}
    ), said AS (
      INSERT INTO messages (id, session_id, turn_id, seq, role, content, attachments)
      SELECT :message, :session, :turn, message_count, 'user', :content, :attachments FROM claimed
    ), turn AS (
      INSERT INTO turns (id, session_id, user_message_id, status, fence, owner, token_id, origin, started_at)
      SELECT :turn, :session, :message, 'running', fence, :replica, :token, :origin, clock_timestamp() FROM claimed
    )
    SELECT claimed.*, ${HISTORY}, ${SUMMARY}, ${WATCHED}, ${REMEMBERED}, ${messageFacts('CASE WHEN :withContent::boolean THEN :content::text END', 'json_array_length(:attachments::json)')}${spent}
    FROM claimed`;
export const START = statement({
  name: 'turns.begin_or_go_on',
  params: NEW_TURN_PARAMS,
  row: CLAIMED_ROW,
  sql: startSql(UNLIMITED),
});
/** A separate statement: together with the limits, PostgreSQL would plan it again for each execution. */
export const START_LIMITED = statement({
  name: 'turns.begin_or_go_on_limited',
  params: { ...NEW_TURN_PARAMS, ...LIMIT_PARAMS },
  row: { ...CLAIMED_ROW, ...SPENT_ROW },
  sql: startSql(LIMITED),
});

/** Whether the waiting message may have the session: it is free, and the message is the first in line. */
const MAY_BEGIN = `${FREE_FOR_LINE} AND (${AWAITED} OR :turn = (
  SELECT id FROM turns WHERE session_id = :session AND status = 'waiting' AND wait_until > now()
  ORDER BY arrival LIMIT 1))`;

/**
 * The same for a message that waited: only the first in line gets the session. Its turn is locked before the session, as
 * whoever deletes or cancels it does: what they did first is seen, and they find a running turn afterwards. Those that may
 * not begin look several times a second, and lock nothing.
 */
const startWaitingSql = ({ standing, within, spent }: LimitsSql): string => `
    WITH ${standing}mine AS MATERIALIZED (
      SELECT 1 FROM turns WHERE id = :turn AND session_id = :session AND status = 'waiting'
        AND EXISTS (SELECT 1 FROM sessions WHERE id = :session AND ${MAY_BEGIN})
      FOR NO KEY UPDATE
    ), claimed AS (
      ${CLAIM}
      WHERE id = :session AND EXISTS (SELECT 1 FROM mine) AND ${MAY_BEGIN}
        ${within}
      RETURNING ${CLAIMED}
    ), said AS (
      UPDATE messages SET seq = claimed.message_count FROM claimed
      WHERE messages.id = :message AND messages.session_id = :session
      RETURNING content, attachments
    ), turn AS (
      UPDATE turns SET status = 'running', fence = claimed.fence, owner = :replica, token_id = :token, origin = :origin, started_at = clock_timestamp()
      FROM claimed WHERE turns.id = :turn AND turns.session_id = :session
    )
    SELECT claimed.*, ${HISTORY}, ${SUMMARY}, ${WATCHED}, ${REMEMBERED}, ${messageFacts('CASE WHEN :withContent::boolean THEN said.content END', 'json_array_length(said.attachments)')}${spent}
    FROM claimed LEFT JOIN said ON true`;
export const START_WAITING = statement({
  name: 'turns.begin_waiting',
  params: TURN_PARAMS,
  row: CLAIMED_ROW,
  sql: startWaitingSql(UNLIMITED),
});
export const START_WAITING_LIMITED = statement({
  name: 'turns.begin_waiting_limited',
  params: { ...TURN_PARAMS, ...LIMIT_PARAMS },
  row: { ...CLAIMED_ROW, ...SPENT_ROW },
  sql: startWaitingSql(LIMITED),
});

/**
 * A message that was accepted (202) waits as long as necessary. Any other waits only as long as the replica on which
 * its caller waits keeps its place (`KEEP_PLACES`), so that a replica that dies holds up no one. It ends with its API
 * token.
 */
export const INSERT_WAITING_TURN = statement({
  name: 'turns.insert_waiting',
  params: {
    ...{ turn: text, session: text, message: text, caller: nullable(json<Caller>()), token: text },
    options: nullable(json<MessageOptions>()),
  },
  row: {},
  sql: `INSERT INTO turns (id, session_id, user_message_id, status, caller, token_id, options, wait_until)
         VALUES (:turn, :session, :message, 'waiting', :caller::json, :token, :options::json,
           CASE WHEN :caller::json IS NULL THEN ${LEASE_END} ELSE 'infinity' END)`,
});
/** A place that was not kept in time is lost: others may have gone before it. */
export const KEEP_PLACES = statement({
  name: 'turns.keep_places',
  params: { turns: arrayOf(text) },
  row: { id: text },
  sql: `UPDATE turns SET wait_until = ${LEASE_END}
         WHERE id = ANY (:turns) AND status = 'waiting' AND wait_until > now() AND caller IS NULL RETURNING id`,
});
/** Any replica may take it: the first one does, and the others see that it no longer waits. */
export const LOCK_ACCEPTED = statement({
  name: 'turns.lock_accepted',
  params: { turn: text, session: text },
  row: { id: text },
  sql: `SELECT id FROM turns WHERE id = :turn AND session_id = :session AND status = 'waiting' FOR UPDATE SKIP LOCKED`,
});
export const INSERT_WAITING_MESSAGE = statement({
  name: 'turns.insert_waiting_message',
  params: { message: text, session: text, turn: text, content: text, attachments: json<AttachmentInfo[]>() },
  row: {},
  sql: `INSERT INTO messages (id, session_id, turn_id, role, content, attachments) VALUES (:message, :session, :turn, 'user', :content, :attachments)`,
});
export const INSERT_ATTACHMENT = statement({
  name: 'turns.insert_attachment',
  params: { id: text, message: text, data: bytes, family: text },
  row: {},
  sql: `INSERT INTO attachments (id, message_id, data, token_family) VALUES (:id, :message, :data, :family)`,
});

/** Deletes a message that nobody waits for, with all its traces. */
export const LEAVE_QUEUE = statement({
  name: 'turns.leave_queue',
  params: { turn: text, session: text },
  row: { id: text },
  sql: `
    WITH gone AS (
      DELETE FROM turns WHERE id = :turn AND session_id = :session AND status = 'waiting' RETURNING user_message_id)
    DELETE FROM messages USING gone
    WHERE messages.id = gone.user_message_id AND messages.session_id = :session RETURNING messages.id`,
});
const EXPIRED = `status = 'waiting' AND wait_until < now() - interval '1 second'`;
export const ANY_QUEUE_EXPIRED = `EXISTS (SELECT 1 FROM turns WHERE ${EXPIRED})`;
export const LEAVE_QUEUES_EXPIRED = statement({
  name: 'turns.leave_queues_expired',
  params: {},
  row: { id: text },
  sql: `
    WITH gone AS (
      DELETE FROM turns WHERE ${EXPIRED}
      RETURNING user_message_id)
    DELETE FROM messages USING gone WHERE messages.id = gone.user_message_id RETURNING messages.id`,
});
