import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { SqlRunner, Statement } from '../../platform/database/sql.js';
import { Logs } from '../../platform/logging/logger.js';
import { BatchedJob } from '../../platform/runtime/batched-job.js';
import { Settings } from '../../platform/settings/settings.js';

const EVERY_MS = 60_000;
/** Sessions of one transaction; each may have thousands of messages. */
const MAX_AT_ONCE = 20;

const DUE: Statement = {
  name: 'content_retention.due',
  text: `
    SELECT id FROM sessions
    WHERE status = 'terminated' AND content_removed_at IS NULL AND ended_at < now() - make_interval(days => $1)
    ORDER BY ended_at LIMIT ${MAX_AT_ONCE} FOR UPDATE SKIP LOCKED`,
};

const TURNS = 'SELECT id FROM turns WHERE session_id = ANY ($1)';
/** What is removed of the sessions `$1`; rows of messages and turns stay with their counts. */
const REMOVALS: readonly Statement[] = [
  {
    name: 'content_retention.attachments',
    text: `DELETE FROM attachments WHERE message_id IN (SELECT id FROM messages WHERE session_id = ANY ($1))`,
  },
  { name: 'content_retention.steps', text: `DELETE FROM turn_steps WHERE turn_id IN (${TURNS})` },
  { name: 'content_retention.responses', text: `DELETE FROM responses WHERE turn_id IN (${TURNS})` },
  { name: 'content_retention.files', text: `DELETE FROM turn_files WHERE turn_id IN (${TURNS})` },
  { name: 'content_retention.keys', text: `DELETE FROM idempotency_keys WHERE turn_id IN (${TURNS})` },
  {
    name: 'content_retention.summaries',
    text: 'DELETE FROM conversation_summaries WHERE session_id = ANY ($1)',
  },
  {
    name: 'content_retention.replies',
    text: `
      UPDATE channel_replies SET content = '', file = NULL WHERE content <> ''
        AND message_id IN (SELECT user_message_id FROM turns WHERE session_id = ANY ($1))`,
  },
  {
    name: 'content_retention.inbox',
    text: `
      UPDATE channel_messages SET content = '', files = '[]' WHERE content <> ''
        AND message_id IN (SELECT user_message_id FROM turns WHERE session_id = ANY ($1))`,
  },
  {
    name: 'content_retention.messages',
    text: `UPDATE messages SET content = '', tool_calls = '[]', attachments = '[]' WHERE session_id = ANY ($1)`,
  },
  {
    name: 'content_retention.turns',
    text: `UPDATE turns SET failure = NULL, options = NULL WHERE session_id = ANY ($1) AND coalesce(failure, options) IS NOT NULL`,
  },
  {
    name: 'content_retention.sessions',
    text: `
      UPDATE sessions SET system_prompt = NULL, metadata = '{}', content_removed_at = now() WHERE id = ANY ($1)`,
  },
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
  const due = (await runner.query<{ id: string }>(DUE, [days])).map(({ id }) => id);
  if (due.length > 0) for (const removal of REMOVALS) await runner.query(removal, [due]);
  return due.length === MAX_AT_ONCE;
}
