import { Injectable } from '@nestjs/common';
import { Database } from '../../../../platform/database/database.js';
import type { Statement } from '../../../../platform/database/sql.js';

/** What became of a message that came with this id. */
export interface WebhookAnswer {
  readonly messageId: string;
  readonly sessionId: string | null;
  /** Of the bytes that it came in. */
  readonly digest: string;
  /** Null until there is one. */
  readonly content: string | null;
}

const FIND: Statement = {
  name: 'channel_webhook.answer',
  text: `
    SELECT m.message_id, m.target->>'digest' AS digest, said.session_id, CASE WHEN m.done_at IS NOT NULL THEN (
      SELECT string_agg(content, E'\\n' ORDER BY part) FROM channel_replies AS r WHERE r.message_id = m.message_id
    ) END AS content
    FROM channel_messages AS m LEFT JOIN messages AS said ON said.id = m.message_id
    WHERE m.channel = $1 AND m.external_id = $2`,
};

interface AnswerRow {
  message_id: string;
  digest: string;
  session_id: string | null;
  content: string | null;
}

/** Answers that are fetched by whoever asked. */
@Injectable()
export class WebhookAnswers {
  constructor(private readonly database: Database) {}

  async find(channel: string, externalId: string): Promise<WebhookAnswer | undefined> {
    const [row] = await this.database.query<AnswerRow>(FIND, [channel, externalId]);
    if (row === undefined) return undefined;
    const { message_id: messageId, session_id: sessionId, digest, content } = row;
    return { messageId, sessionId, digest, content };
  }
}
