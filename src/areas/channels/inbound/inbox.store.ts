import { Injectable } from '@nestjs/common';
import { newId } from '../../../common/ids/typeid.js';
import { Database } from '../../../platform/database/database.js';
import type { SqlRunner } from '../../../platform/database/sql.js';
import { storableText } from '../../../platform/database/storable-text.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import type { AdapterData, InboundMessage } from '../channel-adapter.port.js';
import { LeaseLost } from '../channel-failures.js';
import type { ReceiverLease } from '../channel-states.store.js';
import * as sql from './inbox.sql.js';
import { spoken } from './speaker-label.js';

/** A message of a conversation that is not done with. */
export interface OpenMessage {
  readonly id: string;
  readonly channel: string;
  readonly conversation: string;
  /** The id that it has, or will have, in its session. */
  readonly messageId: string;
  readonly userId: string;
  /** Empty when there was nothing in it that can be read. */
  readonly content: string;
  /** Several people write there, and the content begins with a label of its writer. */
  readonly isGroup: boolean;
  readonly target: AdapterData;
  readonly receivedAt: Date;
  /** Its replies are written down; what is left is to send them. */
  readonly isAnswered: boolean;
}

interface OpenRow {
  id: string;
  channel: string;
  conversation: string;
  message_id: string;
  user_id: string;
  content: string;
  is_group: boolean;
  target: AdapterData;
  received_at: Date;
  answered: boolean;
}

/** What arrived over channels. A message is stored once, whoever brings it how often. */
@Injectable()
export class Inbox {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** Messages and cursor, or neither. Throws `LeaseLost`. @returns how many were new */
  receive(
    { name, fence }: ReceiverLease,
    messages: readonly InboundMessage[],
    cursor: AdapterData | null,
  ): Promise<number> {
    return this.database.transaction(async (runner) => {
      const values = [name, this.replica.value, fence, cursor === null ? null : JSON.stringify(cursor)];
      if ((await runner.query(sql.MOVE_CURSOR, values)).length === 0) throw new LeaseLost();
      return store(runner, name, messages);
    });
  }

  /** For messages that come to any replica. @returns how many were new */
  accept(channel: string, messages: readonly InboundMessage[]): Promise<number> {
    return this.database.transaction((runner) => store(runner, channel, messages));
  }

  /** The oldest that is not done with; undefined when there is none. */
  async next(channel: string, conversation: string): Promise<OpenMessage | undefined> {
    const [row] = await this.database.query<OpenRow>(sql.NEXT, [channel, conversation]);
    return row && openMessage(row);
  }

  async done({ id }: OpenMessage): Promise<void> {
    await this.database.query(sql.DONE, [id]);
  }

  /** Forgets what was done with so long ago, and conversations of which nothing is left. @returns how many messages */
  async prune(days: number, most: number): Promise<number> {
    const { length } = await this.database.query(sql.PRUNE, [days, most]);
    if (length < most) await this.database.query(sql.PRUNE_CONVERSATIONS, [days]);
    return length;
  }
}

async function store(
  runner: SqlRunner,
  channel: string,
  messages: readonly InboundMessage[],
): Promise<number> {
  if (messages.length === 0) return 0;
  const conversations = messages.map(({ conversation }) => conversation);
  const userIds = messages.map(({ sender }) => `${channel}:${sender.id}`);
  const writers = messages.map(({ isGroup }, index) => (isGroup ? null : (userIds[index] ?? null)));
  await runner.query(sql.UPSERT_CONVERSATION, [channel, conversations, writers]);
  const stored = await runner.query(sql.STORE, [
    channel,
    conversations,
    messages.map(({ externalId }) => externalId),
    messages.map(() => newId('msg')),
    userIds,
    messages.map(contentOf),
    messages.map(({ target }) => JSON.stringify(target)),
    messages.map(({ isGroup }) => Number(isGroup)),
  ]);
  return stored.length;
}

/** Where several people write, the agent has to know who speaks. */
function contentOf(message: InboundMessage): string {
  return storableText(message.isGroup && message.text !== '' ? spoken(message) : message.text);
}

function openMessage(row: OpenRow): OpenMessage {
  return {
    id: row.id,
    channel: row.channel,
    conversation: row.conversation,
    messageId: row.message_id,
    userId: row.user_id,
    content: row.content,
    isGroup: row.is_group,
    target: row.target,
    receivedAt: row.received_at,
    isAnswered: row.answered,
  };
}
