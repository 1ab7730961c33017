import {
  boolean,
  double,
  integer,
  json,
  nullable,
  oneOf,
  text,
} from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { type Budget, budgetsSpent, budgetsStanding } from '../../usage/usage.api.js';

/** Budgets start again at midnight UTC, by the database's clock. */
const TODAY = `(now() AT TIME ZONE 'UTC')::date`;

const sessionSpent = `CASE WHEN spent_on = ${TODAY} THEN spent_tokens ELSE 0 END`;
const tokenSpent = (token: string) => `(
  SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM token_spending
  WHERE token_id = ${token} AND day = ${TODAY})`;
const tokenTurns = (token: string) =>
  `(SELECT count(*) FROM turns WHERE status = 'running' AND token_id = ${token})`;

/** The session's tokens of today, as stored in its row. */
export const SESSION_SPENT = `(${sessionSpent})::float8 AS spent_today`;

/** The limits under which a session is claimed, 0 for none; `budgets` is `budgetsJson`. */
export const LIMIT_PARAMS = {
  ...{ token: text, tokenDailyTokens: double, tokenTurns: integer },
  ...{ sessionDailyTokens: double, budgets: json<readonly Budget[]>() },
};
/** Whether a session may be claimed under `LIMIT_PARAMS`. `standing` is a CTE that the condition reads. */
export const WITHIN_LIMITS = {
  standing: budgetsStanding(':budgets::json'),
  condition: `
    (:tokenDailyTokens::float8 = 0 OR :tokenDailyTokens::float8 > ${tokenSpent(':token::text')})
    AND (:tokenTurns::int = 0 OR :tokenTurns::int > ${tokenTurns(':token::text')})
    AND (:sessionDailyTokens::float8 = 0 OR :sessionDailyTokens::float8 > ${sessionSpent})
    AND NOT (SELECT reached FROM budgets)`,
};

/** Where the session and the API token stand within a limit. */
export const USAGE_ROW = {
  /** Model tokens of the session since midnight UTC. */
  spent_today: double,
  ...{ token_spent_today: double, token_turns: integer, day_ends_in_secs: double },
  /** Of each budget, in US dollars. */
  budgets_spent: json<readonly number[]>(),
};

/** Where a session stands for an API token that wants it; `turn` is the turn if it waits in line. */
export const LIMIT_USAGE = statement({
  name: 'turns.standing',
  params: {
    session: text,
    timeoutSecs: double,
    token: text,
    turn: nullable(text),
    budgets: LIMIT_PARAMS.budgets,
  },
  row: {
    ...USAGE_ROW,
    ...{ ended: boolean, busy: boolean },
    /** Whether its current turn waits for a person. */
    awaits_approval: boolean,
    waiting: integer,
    /**
     * The turn's place in line; `lapsed` when the place was not kept in time, null when the turn is in no line: its
     * token was revoked, or it had lapsed.
     */
    place: nullable(oneOf<'kept' | 'lapsed'>()),
    /** The first in its line. */
    next_turn: nullable(text),
  },
  sql: `
  SELECT status = 'terminated' OR quiet_since <= now() - make_interval(secs => :timeoutSecs) AS ended,
    EXISTS (SELECT 1 FROM turns WHERE session_id = :session AND status = 'awaiting_approval') AS awaits_approval,
    turn_owner IS NOT NULL OR awaits_message_id IS NOT NULL AND quiet_since > now() AND awaits_message_id
      IS DISTINCT FROM (SELECT user_message_id FROM turns WHERE id = :turn::text AND session_id = :session) AS busy,
    (SELECT count(*)::int FROM turns WHERE session_id = :session AND status = 'waiting' AND wait_until > now()) AS waiting,
    (SELECT CASE WHEN wait_until > now() THEN 'kept' ELSE 'lapsed' END FROM turns
      WHERE id = :turn::text AND session_id = :session AND status = 'waiting') AS place,
    (SELECT id FROM turns WHERE session_id = :session AND status = 'waiting' AND wait_until > now()
     ORDER BY arrival LIMIT 1) AS next_turn,
    ${SESSION_SPENT},
    ${tokenSpent(':token::text')}::float8 AS token_spent_today,
    ${tokenTurns(':token::text')}::int AS token_turns,
    ${budgetsSpent(':budgets::json')} AS budgets_spent,
    extract(epoch FROM (${TODAY} + 1)::timestamp - now() AT TIME ZONE 'UTC')::float8 AS day_ends_in_secs
  FROM sessions WHERE id = :session`,
});
/** Where an API token stands that wants a turn without a session. */
export const TOKEN_USAGE = statement({
  name: 'turns.token_standing',
  params: { token: text, budgets: LIMIT_PARAMS.budgets },
  row: USAGE_ROW,
  sql: `
  SELECT 0::float8 AS spent_today,
    ${tokenSpent(':token::text')}::float8 AS token_spent_today,
    ${tokenTurns(':token::text')}::int AS token_turns,
    ${budgetsSpent(':budgets::json')} AS budgets_spent,
    extract(epoch FROM (${TODAY} + 1)::timestamp - now() AT TIME ZONE 'UTC')::float8 AS day_ends_in_secs`,
});
/**
 * Locks the session's row, so that messages line up in order of arrival. The state is read in a later statement: a
 * statement that waited for a lock sees other rows as they were before the wait.
 */
export const LOCK_SESSION = statement({
  name: 'turns.lock_session',
  params: { session: text },
  row: { id: text },
  sql: `SELECT id FROM sessions WHERE id = :session FOR UPDATE`,
});

/**
 * Turns of one API token begin one after the other while their number is limited: otherwise two could take the last
 * place.
 */
export const LOCK_TOKEN = statement({
  name: 'turns.lock_token',
  params: { token: text },
  row: {},
  sql: `SELECT pg_advisory_xact_lock(hashtextextended('turns of ' || :token::text, 0))`,
});

/** Adds a turn's usage (`input` and `output` are SQL) to the day of its API token, from a CTE with its `token_id`. */
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

/** Days that nothing reads any more. */
export const FORGET_SPENDING = statement({
  name: 'turns.forget_spending',
  params: {},
  row: {},
  sql: `DELETE FROM token_spending WHERE day < ${TODAY} - 40`,
});
