import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner } from '../../platform/database/sql.js';
import { arrayOf, integer, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { Logs } from '../../platform/logging/logger.js';
import { BatchedJob } from '../../platform/runtime/batched-job.js';
import { Settings } from '../../platform/settings/settings.js';

const EVERY_MS = 60_000;
/** Sessions of one transaction; each may have thousands of messages. */
const MAX_AT_ONCE = 20;

const DUE = statement({
  name: 'content_retention.due',
  params: { days: integer },
  row: { id: text },
  sql: `
    SELECT id FROM sessions
    WHERE status = 'terminated' AND content_removed_at IS NULL AND ended_at < now() - make_interval(days => :days)
    ORDER BY ended_at LIMIT ${MAX_AT_ONCE} FOR UPDATE SKIP LOCKED`,
});

const removal = (name: string, sql: string) =>
  statement({
    name: `content_retention.${name}`,
    params: { sessions: arrayOf(text) },
    row: {},
    sql,
  });
const TURNS = 'SELECT id FROM turns WHERE session_id = ANY (:sessions)';
const MESSAGES = 'SELECT id FROM messages WHERE session_id = ANY (:sessions)';
const USER_MESSAGES = 'SELECT user_message_id FROM turns WHERE session_id = ANY (:sessions)';
/** What is removed of the sessions; rows of messages and turns stay with their counts. */
const REMOVALS = [
  removal('attachments', `DELETE FROM attachments WHERE message_id IN (${MESSAGES})`),
  removal('steps', `DELETE FROM turn_steps WHERE turn_id IN (${TURNS})`),
  removal('responses', `DELETE FROM responses WHERE turn_id IN (${TURNS})`),
  removal('files', `DELETE FROM turn_files WHERE turn_id IN (${TURNS})`),
  removal('keys', `DELETE FROM idempotency_keys WHERE turn_id IN (${TURNS})`),
  removal('summaries', 'DELETE FROM conversation_summaries WHERE session_id = ANY (:sessions)'),
  removal(
    'replies',
    `UPDATE channel_replies SET content = '', file = NULL WHERE content <> '' AND message_id IN (${USER_MESSAGES})`,
  ),
  removal(
    'inbox',
    `UPDATE channel_messages SET content = '', files = '[]' WHERE content <> '' AND message_id IN (${USER_MESSAGES})`,
  ),
  removal(
    'messages',
    `UPDATE messages SET content = '', tool_calls = '[]', attachments = '[]' WHERE session_id = ANY (:sessions)`,
  ),
  removal(
    'turns',
    `UPDATE turns SET failure = NULL, options = NULL
     WHERE session_id = ANY (:sessions) AND coalesce(failure, options) IS NOT NULL`,
  ),
  removal(
    'sessions',
    `UPDATE sessions SET system_prompt = NULL, metadata = '{}', content_removed_at = now() WHERE id = ANY (:sessions)`,
  ),
];

/** Removes the texts of sessions that ended longer ago than `agent.content_retention_days`, a few at a time. */
@Injectable()
export class ContentRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(database: Database, settings: Settings, logs: Logs) {
    this.job = new BatchedJob({
      failure: 'old texts could not be removed',
      everyMs: EVERY_MS,
      logger: logs.for('privacy'),
      batch: async () => {
        const { content_retention_days: days } = settings.current.agent;
        return days > 0 && (await database.transaction((runner) => removeTexts(runner, days)));
      },
    });
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.job.stop();
  }
}

async function removeTexts(runner: SqlRunner, days: number): Promise<boolean> {
  const due = (await runner.query(DUE, { days })).map(({ id }) => id);
  if (due.length > 0) for (const one of REMOVALS) await runner.query(one, { sessions: due });
  return due.length === MAX_AT_ONCE;
}
