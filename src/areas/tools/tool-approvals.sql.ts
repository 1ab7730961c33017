import type { Statement } from '../../platform/database/sql.js';

export const ASK: Statement = {
  name: 'tool_approvals.ask',
  text: `
    WITH forgotten AS (
      DELETE FROM tool_approvals WHERE expires_at < now() - interval '1 hour'
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
    UPDATE tool_approvals SET verdict = $2 WHERE id = $1 AND verdict IS NULL AND expires_at > now()
    RETURNING tool, session_id, call_id`,
};

export const OPEN: Statement = {
  name: 'tool_approvals.open',
  text: `
    SELECT id, call_id, tool, arguments, session_id, channel, user_id, asked_at, expires_at FROM tool_approvals
    WHERE verdict IS NULL AND expires_at > now() AND ($1::text IS NULL OR session_id = $1)
    ORDER BY asked_at, id LIMIT 100`,
};

export const FORGET: Statement = {
  name: 'tool_approvals.forget',
  text: 'DELETE FROM tool_approvals WHERE id = $1',
};
