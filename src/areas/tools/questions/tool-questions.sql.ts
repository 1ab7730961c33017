import type { Statement } from '../../../platform/database/sql.js';

/** Whoever waits says so every second or so; when its replica died, nobody waits for the answer any more. */
const ALIVE = `now() + interval '10 seconds'`;

/** May be repeated. What nobody has waited for is kept for a while longer: the database may have been away. */
export const ASK: Statement = {
  name: 'tool_questions.ask',
  text: `
    WITH forgotten AS (
      DELETE FROM tool_questions
      WHERE coalesce(answered_at, expires_at) < now() - interval '1 hour' OR (action IS NULL AND awaited_until < now() - interval '1 minute')
    )
    INSERT INTO tool_questions
      (id, call_id, tool, session_id, agent, channel, user_id, acts_for, message, schema, url, expires_at, awaited_until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, now() + make_interval(secs => $12), ${ALIVE})
    ON CONFLICT (id) DO UPDATE SET awaited_until = excluded.awaited_until
    RETURNING expires_at`,
};

/** May be repeated, so what was said stays until `FORGET`. */
export const OUTCOME: Statement = {
  name: 'tool_questions.outcome',
  text: `
    WITH asked AS (SELECT id, action, content, expires_at FROM tool_questions WHERE id = $1),
    kept AS (
      UPDATE tool_questions SET awaited_until = ${ALIVE}
      WHERE id = $1 AND action IS NULL AND awaited_until < now() + interval '8 seconds'
    )
    SELECT action, content, action IS NULL AND expires_at < now() AS late FROM asked`,
};

const PENDING = 'action IS NULL AND expires_at > now() AND awaited_until > now()';

export const ANSWER: Statement = {
  name: 'tool_questions.answer',
  text: `
    UPDATE tool_questions SET action = $2, content = $3::jsonb, answered_by = $4, answered_at = now()
    WHERE id = $1 AND ${PENDING} RETURNING tool, session_id, call_id`,
};

/** An answered one stays for an hour, without what was said, for those who answer second. */
export const FORGET: Statement = {
  name: 'tool_questions.forget',
  text: `
    WITH read AS (
      UPDATE tool_questions SET content = NULL WHERE id = $1 AND action IS NOT NULL AND content IS NOT NULL
    )
    DELETE FROM tool_questions WHERE id = $1 AND action IS NULL`,
};

const RECORD = `id, call_id, tool, session_id, agent, channel, user_id, acts_for, message, schema, url, asked_at,
  expires_at, action, answered_by, answered_at`;

/** Newest first, after a time and an id; of one user and of some agents when given. */
export const PAGE: Statement = {
  name: 'tool_questions.page',
  text: `
    SELECT ${RECORD} FROM tool_questions
    WHERE (asked_at, id) < ($1::timestamptz, $2) AND ($3::text IS NULL OR user_id = $3)
      AND ($4::text[] IS NULL OR agent = ANY ($4)) AND CASE WHEN $5::text IS NULL THEN ${PENDING} ELSE action = $5 END
    ORDER BY asked_at DESC, id DESC LIMIT $6`,
};

/** One that waits, or was answered. */
export const FIND: Statement = {
  name: 'tool_questions.find',
  text: `SELECT ${RECORD} FROM tool_questions WHERE id = $1 AND (action IS NOT NULL OR (${PENDING}))`,
};

/** The oldest that waits in a session for an answer of this user. */
export const FIND_FOR: Statement = {
  name: 'tool_questions.find_for',
  text: `
    SELECT ${RECORD} FROM tool_questions WHERE session_id = $1 AND acts_for = $2 AND ${PENDING}
    ORDER BY asked_at, id LIMIT 1`,
};
