import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import type { AttachmentInfo, HistoryPage, Message } from './message.js';
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message-row.js';

/** Their values stand in sub-selects, so that they are not planned anew for every call: see decision 0005. */
const NEWEST: Statement = {
  name: 'messages.newest',
  text: `SELECT ${MESSAGE_COLUMNS} FROM messages
         WHERE session_id = (SELECT $1) AND seq IS NOT NULL ORDER BY seq DESC LIMIT (SELECT $2::int8)`,
};
const BEFORE: Statement = {
  name: 'messages.before',
  text: `SELECT ${MESSAGE_COLUMNS} FROM messages
         WHERE session_id = (SELECT $1) AND seq < (SELECT $3::int4) ORDER BY seq DESC LIMIT (SELECT $2::int8)`,
};
const POSITION: Statement = {
  name: 'messages.place',
  text: `SELECT seq FROM messages WHERE id = $2 AND session_id = $1 AND seq IS NOT NULL`,
};
const SENT: Statement = {
  name: 'messages.sent',
  text: `SELECT content, attachments FROM messages WHERE id = $1`,
};
const ATTACHED: Statement = {
  name: 'messages.attached',
  text: `SELECT id, data FROM attachments WHERE message_id = ANY ($1)`,
};

/** The statements that read messages; turns write them (`TurnStore`). */
@Injectable()
export class MessageStore {
  constructor(private readonly database: Database) {}

  async newest(sessionId: string, limit: number): Promise<HistoryPage> {
    return page(await this.database.query<MessageRow>(NEWEST, [sessionId, limit + 1]), limit);
  }

  /** The newest `limit` messages before this place. */
  async before(sessionId: string, position: number, limit: number): Promise<HistoryPage> {
    return page(await this.database.query<MessageRow>(BEFORE, [sessionId, limit + 1, position]), limit);
  }

  /** Where in the history a message stands; undefined when this session has no such message. */
  async positionOf(sessionId: string, messageId: string): Promise<number | undefined> {
    return (await this.database.query<{ seq: number }>(POSITION, [sessionId, messageId]))[0]?.seq;
  }

  /** What somebody sent, without the bytes of attachments. */
  async sent(messageId: string): Promise<Pick<Message, 'content' | 'attachments'> | undefined> {
    const values = [messageId];
    return (await this.database.query<{ content: string; attachments: AttachmentInfo[] }>(SENT, values))[0];
  }

  /** The bytes of all attachments of these messages, by attachment id. */
  async attachedTo(messageIds: readonly string[]): Promise<Map<string, Buffer>> {
    const rows = await this.database.query<{ id: string; data: Buffer }>(ATTACHED, [[...messageIds]]);
    return new Map(rows.map(({ id, data }) => [id, data]));
  }
}

/** One row more than asked for tells whether there are older ones. */
function page(newestFirst: MessageRow[], limit: number): HistoryPage {
  const messages = newestFirst.slice(0, limit).map(toMessage).reverse();
  return { messages, hasMore: newestFirst.length > limit };
}
