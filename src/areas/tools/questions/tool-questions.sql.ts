import { columnsOf } from '../../../platform/database/entity-columns.js';
import {
  arrayOf,
  bigint,
  boolean,
  double,
  jsonb,
  nullable,
  oneOf,
  text,
  timestamp,
} from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { ToolQuestionEntity } from './tool-question.entity.js';
import type { QuestionAction } from './tool-question.js';

/** The call that waits renews this every second or so; when its replica died, nobody waits for the answer any more. */
const ALIVE = `now() + interval '10 seconds'`;

/** May be repeated. Questions that nobody waits for are kept a little longer: the database may have been away. */
export const ASK = statement({
  name: 'tool_questions.ask',
  params: {
    ...{ id: text, callId: text, tool: text, session: text, agent: text, channel: text, user: text },
    ...{
      actsFor: nullable(text),
      message: text,
      schema: jsonb<unknown>(),
      url: nullable(text),
      timeoutSecs: double,
    },
  },
  row: columnsOf(ToolQuestionEntity, 'expiresAt'),
  sql: `
    WITH forgotten AS (
      DELETE FROM tool_questions
      WHERE coalesce(answered_at, expires_at) < now() - interval '1 hour' OR (action IS NULL AND awaited_until < now() - interval '1 minute')
    )
    INSERT INTO tool_questions
      (id, call_id, tool, session_id, agent, channel, user_id, acts_for, message, schema, url, expires_at, awaited_until)
    VALUES (:id, :callId, :tool, :session, :agent, :channel, :user, :actsFor, :message, :schema::jsonb, :url, now() + make_interval(secs => :timeoutSecs), ${ALIVE})
    ON CONFLICT (id) DO UPDATE SET awaited_until = excluded.awaited_until
    RETURNING expires_at`,
});

/** May be repeated, so the answer stays until `FORGET`. */
export const OUTCOME = statement({
  name: 'tool_questions.outcome',
  params: { id: text },
  row: { ...columnsOf(ToolQuestionEntity, 'action', 'content'), late: boolean },
  sql: `
    WITH asked AS (SELECT id, action, content, expires_at FROM tool_questions WHERE id = :id),
    kept AS (
      UPDATE tool_questions SET awaited_until = ${ALIVE}
      WHERE id = :id AND action IS NULL AND awaited_until < now() + interval '8 seconds'
    )
    SELECT action, content, action IS NULL AND expires_at < now() AS late FROM asked`,
});

const PENDING = 'action IS NULL AND expires_at > now() AND awaited_until > now()';

export const ANSWER = statement({
  name: 'tool_questions.answer',
  params: { id: text, action: oneOf<QuestionAction>(), content: nullable(jsonb<unknown>()), by: text },
  row: columnsOf(ToolQuestionEntity, 'tool', 'sessionId', 'callId'),
  sql: `
    UPDATE tool_questions SET action = :action, content = :content::jsonb, answered_by = :by, answered_at = now()
    WHERE id = :id AND ${PENDING} RETURNING tool, session_id, call_id`,
});

/** An answered question stays for an hour, without its answer, for people who answer second. */
export const FORGET = statement({
  name: 'tool_questions.forget',
  params: { id: text },
  row: {},
  sql: `
    WITH read AS (
      UPDATE tool_questions SET content = NULL WHERE id = :id AND action IS NOT NULL AND content IS NOT NULL
    )
    DELETE FROM tool_questions WHERE id = :id AND action IS NULL`,
});

const RECORD = `id, call_id, tool, session_id, agent, channel, user_id, acts_for, message, schema, url, asked_at,
  expires_at, action, answered_by, answered_at`;
const RECORD_ROW = columnsOf(
  ToolQuestionEntity,
  ...(['id', 'callId', 'tool', 'sessionId', 'agent', 'channel', 'userId', 'actsFor'] as const),
  ...(['message', 'schema', 'url', 'askedAt', 'expiresAt', 'action', 'answeredBy', 'answeredAt'] as const),
);

/** Newest first, after a time and an id; of one user and of some agents when given. */
export const PAGE = statement({
  name: 'tool_questions.page',
  params: {
    ...{ at: timestamp, id: text, user: nullable(text), agents: nullable(arrayOf(text)) },
    action: nullable(oneOf<QuestionAction>()),
    most: bigint,
  },
  row: RECORD_ROW,
  sql: `
    SELECT ${RECORD} FROM tool_questions
    WHERE (asked_at, id) < (:at::timestamptz, :id) AND (:user::text IS NULL OR user_id = :user)
      AND (:agents::text[] IS NULL OR agent = ANY (:agents)) AND CASE WHEN :action::text IS NULL THEN ${PENDING} ELSE action = :action END
    ORDER BY asked_at DESC, id DESC LIMIT :most`,
});

/** One that waits, or was answered. */
export const FIND = statement({
  name: 'tool_questions.find',
  params: { id: text },
  row: RECORD_ROW,
  sql: `SELECT ${RECORD} FROM tool_questions WHERE id = :id AND (action IS NOT NULL OR (${PENDING}))`,
});

/** The oldest question in a session that waits for an answer of this user. */
export const FIND_FOR = statement({
  name: 'tool_questions.find_for',
  params: { session: text, user: text },
  row: RECORD_ROW,
  sql: `
    SELECT ${RECORD} FROM tool_questions WHERE session_id = :session AND acts_for = :user AND ${PENDING}
    ORDER BY asked_at, id LIMIT 1`,
});
