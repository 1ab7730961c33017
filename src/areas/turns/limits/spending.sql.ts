import type { Statement } from '../../../platform/database/sql.js';
import { budgetsSpent, budgetsStanding } from '../../usage/usage.api.js';

/** Budgets begin anew at midnight UTC, by the database's clock. */
const TODAY = `(now() AT TIME ZONE 'UTC')::date`;

const sessionSpent = `CASE WHEN spent_on = ${TODAY} THEN spent_tokens ELSE 0 END`;
const tokenSpent = (token: string) => `(
  SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM token_spending
  WHERE token_id = ${token} AND day = ${TODAY})`;
const tokenTurns = (token: string) =>
  `(SELECT count(*) FROM turns WHERE status = 'running' AND token_id = ${token})`;

/** The session's tokens of today, as its row shows them. */
export const SESSION_SPENT = `(${sessionSpent})::float8 AS spent_today`;

/**
 * Whether a session may be claimed under limits, 0 for none: parameters from `first` on are the API token's id, its
 * daily tokens, its turns, the session's daily tokens, and the budgets as JSON. `standing` is a CTE that the condition reads.
 */
export function withinLimits(first: number): { readonly standing: string; readonly condition: string } {
  const [token, tokenDaily, turns, sessionDaily] = [first, first + 1, first + 2, first + 3].map(
    (n) => `$${n}`,
  );
  const condition = `
    ($${first + 1}::float8 = 0 OR ${tokenDaily}::float8 > ${tokenSpent(`${token}::text`)})
    AND (${turns}::int = 0 OR ${turns}::int > ${tokenTurns(`${token}::text`)})
    AND (${sessionDaily}::float8 = 0 OR ${sessionDaily}::float8 > ${sessionSpent})
    AND NOT (SELECT reached FROM budgets)`;
  return { standing: budgetsStanding(`$${first + 4}::json`), condition };
}

/** How a session stands: `$1` the session, `$2` its time-out in seconds, `$3` the API token that wants it, `$4` its turn if it waits, `$5` budgets as JSON. */
export const LIMIT_USAGE: Statement = {
  name: 'turns.standing',
  text: `
  SELECT status = 'terminated' OR quiet_since <= now() - make_interval(secs => $2) AS ended,
    EXISTS (SELECT 1 FROM turns WHERE session_id = $1 AND status = 'awaiting_approval') AS awaits_approval,
    turn_owner IS NOT NULL OR awaits_message_id IS NOT NULL AND quiet_since > now() AND awaits_message_id
      IS DISTINCT FROM (SELECT user_message_id FROM turns WHERE id = $4::text) AS busy,
    (SELECT count(*)::int FROM turns WHERE session_id = $1 AND status = 'waiting' AND wait_until > now()) AS waiting,
    (SELECT CASE WHEN wait_until > now() THEN 'kept' ELSE 'lapsed' END FROM turns WHERE id = $4::text AND status = 'waiting') AS place,
    (SELECT id FROM turns WHERE session_id = $1 AND status = 'waiting' AND wait_until > now()
     ORDER BY arrival LIMIT 1) AS next_turn,
    ${SESSION_SPENT},
    ${tokenSpent('$3::text')}::float8 AS token_spent_today,
    ${tokenTurns('$3::text')}::int AS token_turns,
    ${budgetsSpent('$5::json')} AS budgets_spent,
    extract(epoch FROM (${TODAY} + 1)::timestamp - now() AT TIME ZONE 'UTC')::float8 AS day_ends_in_secs
  FROM sessions WHERE id = $1`,
};
/** How an API token `$1` stands that wants a turn without a session; `$2` budgets as JSON. */
export const TOKEN_USAGE: Statement = {
  name: 'turns.token_standing',
  text: `
  SELECT 0::float8 AS spent_today,
    ${tokenSpent('$1::text')}::float8 AS token_spent_today,
    ${tokenTurns('$1::text')}::int AS token_turns,
    ${budgetsSpent('$2::json')} AS budgets_spent,
    extract(epoch FROM (${TODAY} + 1)::timestamp - now() AT TIME ZONE 'UTC')::float8 AS day_ends_in_secs`,
};
/**
 * Holds the session's row, so that those who wait line up in arrival order. How it stands is asked after it: the statement
 * that waits for a lock sees other rows as they were before.
 */
export const LOCK_SESSION: Statement = {
  name: 'turns.lock_session',
  text: `SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE`,
};

/** Turns of one API token begin one after the other while their number is limited: else two could take the last place. */
export const LOCK_TOKEN: Statement = {
  name: 'turns.lock_token',
  text: `SELECT pg_advisory_xact_lock(hashtextextended('turns of ' || $1::text, 0))`,
};

/** Adds what a turn used (`input` and `output` are SQL) to its API token's day, from a CTE with its `token_id`. */
export function spend(input: string, output: string, from = 'closed'): string {
  return `
    INSERT INTO token_spending AS known (token_id, day, slot, input_tokens, output_tokens)
    SELECT token_id, ${TODAY}, pg_backend_pid() % 16, ${input}, ${output} FROM ${from}
    WHERE token_id IS NOT NULL AND ${input} + ${output} > 0
    ON CONFLICT (token_id, day, slot) DO UPDATE SET
      input_tokens = known.input_tokens + excluded.input_tokens,
      output_tokens = known.output_tokens + excluded.output_tokens`;
}

/** The same for the session's own row: assignments of an UPDATE. */
export function spendInSession(input: string, output: string): string {
  return `spent_tokens = ${sessionSpent} + ${input} + ${output}, spent_on = ${TODAY}`;
}

/** Days that nobody asks for any more. */
export const FORGET_SPENDING: Statement = {
  name: 'turns.forget_spending',
  text: `DELETE FROM token_spending WHERE day < ${TODAY} - 40`,
};
