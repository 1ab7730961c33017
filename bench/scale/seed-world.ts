import type { BenchDatabase } from '../harness/database-server.js';

/** The number of sessions in a world; all other tables depend on it. */
export interface World {
  readonly sessions: number;
}

const MESSAGES_OF_A_SESSION = 10;
export const LONG_TALK_MESSAGES = 100_000;
/** The person who is erased, and the day that retention deletes, have the same number of sessions in every world. */
export const PERSON = 'person-to-erase';
const PERSON_SESSIONS = 1000;
export const RARE_USER = 'user-once';
const USER_SESSIONS = 100;
const YEAR_SECS = 31_536_000;
const PER_STATEMENT = 50_000;
const MOST_LOG_LINES = 500_000;

/** Ids look like real ones and are ascending in the order of creation, as real ones are. */
const ID_START = '0000000000e008';
const ID_DIGITS = 12;
const idOf = (prefix: string, n: number): string =>
  `${prefix}_${ID_START}${String(n).padStart(ID_DIGITS, '0')}`;
export const sessionId = (n: number): string => idOf('sess', n);
export const longTalk = ({ sessions }: World): string => sessionId(sessions);
const messageId = (n: number): string => idOf('msg', n);
/** The message at a position (from 1) of the long conversation. */
export const longTalkMessage = ({ sessions }: World, place: number): string =>
  messageId(sessions * MESSAGES_OF_A_SESSION + place);

const ID = (prefix: string, n: string): string =>
  `'${prefix}_${ID_START}' || lpad((${n})::text, ${ID_DIGITS}, '0')`;
const CREATED = (sessions: number): string =>
  `now() - make_interval(secs => (${sessions} - n) * ${YEAR_SECS / sessions}::float8 + 7200)`;
const QUESTION =
  'How do I change the address for invoice number %s, and who has to be told about it before the end of the month?';
const ANSWER =
  'Open the settings of the account, choose "Billing" and then "Addresses". Change the address there and save it. Invoice %s keeps the old one, because it was sent already; the next one has the new one. Please tell the accounts department, which checks addresses once a month, and the person who signed the order, whose copy is sent by post. If the customer is in another country, the tax number has to be entered again.';

/**
 * A year of sessions, evenly spread, each with ten messages and what these leave behind; one in twenty is still
 * active.
 */
export async function seedWorld(database: BenchDatabase, world: World): Promise<void> {
  const { sessions } = world;
  for (let from = 1; from <= sessions; from += PER_STATEMENT) {
    const to = Math.min(sessions, from + PER_STATEMENT - 1);
    await database.query(sessionsSql(sessions, from, to));
    await database.query(withoutTriggers(talksSql(from, to)));
  }
  await database.query(withoutTriggers(longTalkSql(world)));
  for (const sql of restSql(world)) await database.query(sql);
  await database.query('VACUUM ANALYZE');
  await database.query('CHECKPOINT');
}

/**
 * Skips the triggers of messages and turns, which only look for hooks and tasks, and the checks of foreign keys:
 * there are no hooks or tasks, and the keys are right.
 */
const withoutTriggers = (sql: string): string =>
  `BEGIN; SET LOCAL session_replication_role = replica; ${sql} COMMIT`;

/** Runs the triggers, which keep the totals of lists. */
function sessionsSql(sessions: number, from: number, to: number): string {
  const everyNth = sessions / PERSON_SESSIONS;
  return `
    INSERT INTO sessions (id, channel, user_id, agent, status, metadata, created_at, last_activity, quiet_since, ended_at,
      message_count, turn_count, input_tokens, output_tokens)
    SELECT ${ID('sess', 'n')}, channel,
      CASE WHEN n = 10 THEN '${RARE_USER}' WHEN n % ${everyNth} = 1 THEN '${PERSON}'
        ELSE 'user-' || n % ${sessions / USER_SESSIONS} END,
      CASE WHEN n % 50 = 0 THEN 'support' ELSE 'default' END, status, '{"ticket": "HELP-17"}', at, at + interval '10 minutes',
      CASE WHEN status = 'terminated' THEN at + interval '10 minutes' ELSE now() END,
      CASE WHEN status = 'terminated' THEN at + interval '70 minutes' END, 10, 5, 10000, 1500
    FROM (SELECT n, ${CREATED(sessions)} AS at, (ARRAY ['api', 'api', 'slack', 'telegram'])[1 + n % 4] AS channel,
        CASE WHEN n <= ${sessions} * 0.95 THEN 'terminated' WHEN n % 5 < 3 THEN 'active' ELSE 'idle' END AS status
      FROM generate_series(${from}, ${to}) AS n) AS made`;
}

function talksSql(from: number, to: number): string {
  const said = `n * ${MESSAGES_OF_A_SESSION} + seq - 1`;
  const turn = ID('turn', 'n * 5 + (seq - 1) / 2');
  return `
    INSERT INTO messages (id, session_id, turn_id, seq, role, content, tokens_used, model, created_at, finish_reason)
    SELECT ${ID('msg', said)}, s.id, ${turn}, seq, ${ROLE}, ${CONTENT}, 300, 'claude-sonnet-5',
      s.created_at + seq * interval '1 minute', CASE WHEN seq % 2 = 0 THEN 'stop' END
    FROM generate_series(${from}, ${to}) AS n JOIN sessions AS s ON s.id = ${ID('sess', 'n')},
      generate_series(1, ${MESSAGES_OF_A_SESSION}) AS seq ORDER BY n, seq;
    INSERT INTO turns (id, session_id, user_message_id, ${TURN_COLUMNS})
    SELECT ${ID('turn', 'n * 5 + k')}, s.id, ${ID('msg', `n * ${MESSAGES_OF_A_SESSION} + 2 * k`)}, ${turnValues('n * 5 + k')}
    FROM generate_series(${from}, ${to}) AS n JOIN sessions AS s ON s.id = ${ID('sess', 'n')}, generate_series(0, 4) AS k,
      LATERAL (SELECT s.created_at + (k * 2 + 1) * interval '1 minute' AS at) AS begun ORDER BY n, k;`;
}

const ROLE = `CASE seq % 2 WHEN 1 THEN 'user' ELSE 'assistant' END`;
const CONTENT = `format(CASE seq % 2 WHEN 1 THEN '${QUESTION}' ELSE '${ANSWER}' END, seq)`;
const TURN_COLUMNS = `status, reason, fence, owner, model, input_tokens, output_tokens, created_at, started_at, ended_at, token_id,
  cached_input_tokens, cost_usd`;
const turnValues = (n: string): string => `
  CASE WHEN (${n}) % 500 = 0 THEN 'failed' ELSE 'completed' END, CASE WHEN (${n}) % 500 = 0 THEN 'provider_error' END, k + 1,
  'replica-1', 'claude-sonnet-5', 2000, 300, at, at, at + interval '4 seconds', 'tok_00000000000000000000004711', 1500, 0.0123`;

/** The newest session has a long conversation, all of it today. */
function longTalkSql(world: World): string {
  const first = (world.sessions + 1) * MESSAGES_OF_A_SESSION;
  const id = longTalk(world);
  return `
    DELETE FROM messages WHERE session_id = '${id}';
    DELETE FROM turns WHERE session_id = '${id}';
    INSERT INTO messages (id, session_id, turn_id, seq, role, content, tokens_used, model, created_at)
    SELECT ${ID('msg', `${world.sessions * MESSAGES_OF_A_SESSION} + seq`)}, '${id}', ${ID('turn', `${first} + seq / 2`)}, seq, ${ROLE},
      ${CONTENT}, 300, 'claude-sonnet-5', now() - interval '2 hours' + seq * interval '50 milliseconds'
    FROM generate_series(1, ${LONG_TALK_MESSAGES}) AS seq;
    INSERT INTO turns (id, session_id, user_message_id, status, fence, owner, model, input_tokens, output_tokens, created_at, started_at,
      ended_at, token_id, cost_usd)
    SELECT turn_id, session_id, id, 'completed', seq, 'replica-1', model, 2000, 300, created_at, created_at, created_at, 'tok_1', 0.0123
    FROM messages WHERE session_id = '${id}' AND role = 'user';
    UPDATE sessions SET message_count = ${LONG_TALK_MESSAGES}, turn_count = ${LONG_TALK_MESSAGES / 2}, status = 'active',
      ended_at = NULL, quiet_since = now() WHERE id = '${id}';`;
}

/** The rest: usage per day, the audit, log lines, messages of channels, idempotency keys. */
function restSql({ sessions }: World): readonly string[] {
  const lines = Math.min(MOST_LOG_LINES, sessions);
  return [
    `INSERT INTO usage_days (day, agent, user_id, api_token, provider, model, channel, key, turns, input_tokens, cached_input_tokens,
       cache_write_tokens, output_tokens, reasoning_tokens, unpriced_tokens, cost_usd)
     SELECT day, agent, user_id, 'token', 'default', 'claude-sonnet-5', channel,
       md5(json_build_array(agent, user_id, 'token', 'default', 'claude-sonnet-5', channel)::text)::uuid,
       5 * count(*), 10000 * count(*), 7500 * count(*), 0, 1500 * count(*), 0, 0, 0.0615 * count(*)
     FROM (SELECT (created_at AT TIME ZONE 'UTC')::date AS day, agent, user_id, channel FROM sessions) AS ended
     GROUP BY day, agent, user_id, channel`,
    `INSERT INTO audit_entries (happened_at, action, actor, address, target, outcome, session_id, details)
     SELECT ${CREATED(sessions)}, CASE WHEN n % 10 = 0 THEN 'token.created' ELSE 'session.ended' END, 'user-' || n % ${sessions / USER_SESSIONS},
       '192.0.2.' || n % 256, ${ID('sess', 'n')}, 'success', ${ID('sess', 'n')}, '{"by_token": "tok_4711"}'
     FROM generate_series(1, ${sessions}) AS n`,
    `INSERT INTO audit_seals (sequence, entry_id, hash)
     SELECT row_number() OVER (ORDER BY id), id, sha256(id::text::bytea) FROM audit_entries;
     DELETE FROM audit_unsealed`,
    `INSERT INTO log_entries (id, at, level, module, message, session_id)
     SELECT n, now() - make_interval(secs => (${lines} - n) * ${604_000 / lines}::float8), CASE WHEN n % 1000 = 0 THEN 50 ELSE 30 END,
       'turns', 'turn completed session=' || ${ID('sess', 'n')} || ' duration_ms=4012 input_tokens=2000', ${ID('sess', 'n')}
     FROM generate_series(1, ${lines}) AS n;
     UPDATE log_head SET last_id = ${lines}`,
    `INSERT INTO channel_messages (channel, conversation, external_id, message_id, user_id, content, target, received_at, answered_at, done_at)
     SELECT 'slack', 'C' || n % 1000, n::text, ${ID('msg', `n * ${MESSAGES_OF_A_SESSION}`)}, 'user-' || n % ${sessions / USER_SESSIONS},
       'What is the status?', '{}', now() - interval '1 day', now() - interval '1 day', now() - interval '1 day'
     FROM generate_series(10, ${sessions}, 10) AS n`,
    `INSERT INTO idempotency_keys (scope, token_id, operation, request, turn_id, status, headers, body)
     SELECT md5(n::text), 'tok_4711', 'POST /sessions', md5(n::text), NULL, 201, '{}', '{"id": "' || ${ID('sess', 'n')} || '"}'
     FROM generate_series(100, ${sessions}, 100) AS n`,
  ];
}
