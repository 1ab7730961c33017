import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import { arrayOf, bigint, integer, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { AttachmentEntity } from './message.entity.js';
import type { HistoryPage, Message } from './message.js';
import { MESSAGE_COLUMNS, MESSAGE_ROW, type MessageRow, toMessage } from './message-row.js';

/** Their values stand in sub-selects, so that they are not planned anew for every call: see decision 0005. */
const NEWEST = statement({
  name: 'messages.newest',
  params: { session: text, most: bigint },
  row: MESSAGE_ROW,
  sql: `SELECT ${MESSAGE_COLUMNS} FROM messages
         WHERE session_id = (SELECT :session) AND seq IS NOT NULL ORDER BY seq DESC LIMIT (SELECT :most::int8)`,
});
const BEFORE = statement({
  name: 'messages.before',
  params: { session: text, most: bigint, place: integer },
  row: MESSAGE_ROW,
  sql: `SELECT ${MESSAGE_COLUMNS} FROM messages
         WHERE session_id = (SELECT :session) AND seq < (SELECT :place::int4) ORDER BY seq DESC LIMIT (SELECT :most::int8)`,
});
const POSITION = statement({
  name: 'messages.place',
  params: { session: text, message: text },
  row: { seq: integer },
  sql: `SELECT seq FROM messages WHERE id = :message AND session_id = :session AND seq IS NOT NULL`,
});
const SENT = statement({
  name: 'messages.sent',
  params: { message: text },
  row: { content: text, attachments: MESSAGE_ROW.attachments },
  sql: `SELECT content, attachments FROM messages WHERE id = :message`,
});
const ATTACHED = statement({
  name: 'messages.attached',
  params: { messages: arrayOf(text) },
  row: columnsOf(AttachmentEntity, 'id', 'data'),
  sql: `SELECT id, data FROM attachments WHERE message_id = ANY (:messages)`,
});

/** The statements that read messages; turns write them (`TurnStore`). */
@Injectable()
export class MessageStore {
  constructor(private readonly database: Database) {}

  async newest(sessionId: string, limit: number): Promise<HistoryPage> {
    return page(await this.database.query(NEWEST, { session: sessionId, most: limit + 1 }), limit);
  }

  /** The newest `limit` messages before this place. */
  async before(sessionId: string, position: number, limit: number): Promise<HistoryPage> {
    return page(
      await this.database.query(BEFORE, { session: sessionId, most: limit + 1, place: position }),
      limit,
    );
  }

  /** Where in the history a message stands; undefined when this session has no such message. */
  async positionOf(sessionId: string, messageId: string): Promise<number | undefined> {
    return (await this.database.query(POSITION, { session: sessionId, message: messageId }))[0]?.seq;
  }

  /** What somebody sent, without the bytes of attachments. */
  async sent(messageId: string): Promise<Pick<Message, 'content' | 'attachments'> | undefined> {
    return (await this.database.query(SENT, { message: messageId }))[0];
  }

  /** The bytes of all attachments of these messages, by attachment id. */
  async attachedTo(messageIds: readonly string[]): Promise<Map<string, Buffer>> {
    const rows = await this.database.query(ATTACHED, { messages: messageIds });
    return new Map(rows.map(({ id, data }) => [id, data]));
  }
}

/** One row more than asked for tells whether there are older ones. */
function page(newestFirst: MessageRow[], limit: number): HistoryPage {
  const messages = newestFirst.slice(0, limit).map(toMessage).reverse();
  return { messages, hasMore: newestFirst.length > limit };
}
