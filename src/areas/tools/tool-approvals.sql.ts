import type { Statement } from '../../platform/database/sql.js';

export const ASK: Statement = {
  name: 'tool_approvals.ask',
  text: `
    WITH forgotten AS (
      DELETE FROM tool_approvals WHERE coalesce(decided_at, expires_at) < now() - interval '1 hour'
    )
    INSERT INTO tool_approvals (id, call_id, tool, arguments, session_id, channel, user_id, expires_at)
    VALUES ($1, $2, $3, $4::jsonb, $5, $6, $7, now() + make_interval(secs => $8))
    RETURNING expires_at`,
};

/** A question that ran out of time is answered by that. */
export const VERDICT: Statement = {
  name: 'tool_approvals.verdict',
  text: `
    SELECT CASE WHEN verdict IS NOT NULL THEN verdict WHEN expires_at < now() THEN 'timeout' END AS verdict
    FROM tool_approvals WHERE id = $1`,
};

export const ANSWER: Statement = {
  name: 'tool_approvals.answer',
  text: `
    UPDATE tool_approvals SET verdict = $2, decided_by = $3, decided_at = now(), reason = $4 WHERE id = $1 AND verdict IS NULL AND expires_at > now()
    RETURNING tool, session_id, call_id`,
};

export const OPEN: Statement = {
  name: 'tool_approvals.open',
  text: `
    SELECT id, call_id, tool, arguments, session_id, channel, user_id, asked_at, expires_at FROM tool_approvals
    WHERE verdict IS NULL AND expires_at > now() AND ($1::text IS NULL OR session_id = $1)
    ORDER BY asked_at, id LIMIT 100`,
};

/** A decided one stays for an hour, for those who decide second. */
export const FORGET: Statement = {
  name: 'tool_approvals.forget',
  text: 'DELETE FROM tool_approvals WHERE id = $1 AND verdict IS NULL',
};

const RECORD = `id, call_id, tool, arguments, session_id, channel, user_id, asked_at, expires_at, verdict, decided_by,
  decided_at, reason`;
const PENDING = 'verdict IS NULL AND expires_at > now()';

/** Newest first, after a time and an id; of one user when given. */
export const PAGE: Statement = {
  name: 'tool_approvals.page',
  text: `
    SELECT ${RECORD} FROM tool_approvals
    WHERE (asked_at, id) < ($1::timestamptz, $2) AND ($3::text IS NULL OR user_id = $3)
      AND CASE WHEN $4 = 'pending' THEN ${PENDING} ELSE verdict = $4 END
    ORDER BY asked_at DESC, id DESC LIMIT $5`,
};

/** One that waits, or was decided. */
export const FIND: Statement = {
  name: 'tool_approvals.find',
  text: `
    SELECT ${RECORD} FROM tool_approvals
    WHERE id = $1 AND ($2::text IS NULL OR user_id = $2) AND (verdict IS NOT NULL OR expires_at > now())`,
};
