import { Injectable } from '@nestjs/common';
import { type StoredError, storedError } from '../../../common/errors/gateway-error.js';
import type { SqlRunner } from '../../../platform/database/sql.js';
import { arrayOf, json, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import type { TokenEnding } from '../../../platform/tokens/token-endings.js';
import { wakeParked } from '../lost/lost-turns.sql.js';
import { TurnOfRevokedToken } from '../turns.errors.js';
import { awaitsNoLonger } from './accepted-turns.sql.js';

/**
 * Messages sent by a token of the families `owners` (identities count as families), or by the token of an identity
 * named there. Rows of the previous version have the token only in `caller`.
 */
const OF_FAMILY = `(
  coalesce(token_id, caller->>'tokenId') IN (
    SELECT id FROM api_tokens WHERE coalesce(family_id, id) = ANY (:owners) UNION ALL SELECT unnest(:owners::text[]))
  OR caller->>'credential' = ANY (:owners))`;

/**
 * Accepted messages that wait go into the history at once, unanswered; `failure` is what their sender is told. Turns
 * are locked before sessions, in the same order as when an accepted turn begins.
 */
const CANCEL_ACCEPTED = statement({
  name: 'accepted_turns.cancel_all_of_token',
  params: { owners: arrayOf(text), failure: json<StoredError>() },
  row: {},
  sql: `
    WITH taken AS (
      SELECT id, session_id, user_message_id, arrival FROM turns
      WHERE status = 'waiting' AND caller IS NOT NULL AND ${OF_FAMILY}
      ORDER BY session_id, arrival FOR UPDATE
    ), counted AS (
      UPDATE sessions SET message_count = message_count + each.n, turn_count = turn_count + each.n,
        ${awaitsNoLonger('awaits_message_id = ANY (each.messages)')}
      FROM (
        SELECT session_id, count(*) AS n, array_agg(user_message_id) AS messages FROM taken GROUP BY session_id
      ) AS each
      WHERE sessions.id = each.session_id RETURNING sessions.id, message_count - each.n AS before
    ), numbered AS (
      SELECT user_message_id, before + row_number() OVER (PARTITION BY session_id ORDER BY arrival) AS seq
      FROM taken JOIN counted ON counted.id = taken.session_id
    ), said AS (
      UPDATE messages SET seq = numbered.seq FROM numbered WHERE messages.id = numbered.user_message_id
    )
    UPDATE turns SET status = 'cancelled', reason = 'token_revoked', failure = :failure, ended_at = now()
    FROM taken WHERE turns.id = taken.id`,
});

/** Messages whose callers wait leave no trace: the caller gets 401 and may send them again. */
const LEAVE_QUEUES = statement({
  name: 'turns.leave_queues_of_token',
  params: { owners: arrayOf(text) },
  row: {},
  sql: `
    WITH gone AS (
      DELETE FROM turns WHERE status = 'waiting' AND caller IS NULL AND ${OF_FAMILY} RETURNING user_message_id)
    DELETE FROM messages USING gone WHERE messages.id = gone.user_message_id`,
});

/** Turns that wait for a person end as soon as a replica takes them up. */
const WAKE_PARKED = statement({
  name: 'turns.wake_parked_of_token',
  params: { owners: arrayOf(text) },
  row: {},
  sql: wakeParked(`coalesce(turns.token_id, turns.origin->'caller'->>'tokenId') IN (
    SELECT id FROM api_tokens WHERE coalesce(family_id, id) = ANY (:owners) UNION ALL SELECT unnest(:owners::text[]))
  OR turns.origin->'caller'->>'credential' = ANY (:owners)`),
});

/**
 * Messages that wait end with the token that sent them. `TurnWatch` aborts running turns; parked turns end when a
 * replica takes them up.
 */
@Injectable()
export class TokenWaitingTurns implements TokenEnding {
  async end(runner: SqlRunner, owners: readonly string[]): Promise<void> {
    await runner.query(CANCEL_ACCEPTED, {
      owners,
      failure: JSON.stringify(storedError(new TurnOfRevokedToken())),
    });
    await runner.query(LEAVE_QUEUES, { owners });
    await runner.query(WAKE_PARKED, { owners });
  }
}
