import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { newId } from '../../../common/ids/typeid.js';
import { Database } from '../../../platform/database/database.js';
import type { SqlRunner } from '../../../platform/database/sql.js';
import type { RowOfStatement } from '../../../platform/database/statement.js';
import { storableText } from '../../../platform/database/storable-text.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import { Logs } from '../../../platform/logging/logger.js';
import { BatchedJob } from '../../../platform/runtime/batched-job.js';
import { TurnFiles } from '../../turns/turns.api.js';
import type { AdapterData, InboundMessage } from '../channel-adapter.port.js';
import { LeaseLost } from '../channel-failures.js';
import type { ReceiverLease } from '../channel-states.store.js';
import * as sql from './inbox.sql.js';
import { type InboxFile, messageText, readable, sentFiles } from './message-text.js';

/** A message that is not done. */
export interface OpenMessage {
  readonly id: string;
  readonly channel: string;
  readonly conversation: string;
  /** Its id in the session, also before it gets there. */
  readonly messageId: string;
  readonly userId: string;
  /** Empty when the message has no readable text. */
  readonly content: string;
  /** Several people write there, and the content begins with a label of the writer. */
  readonly isGroup: boolean;
  readonly target: AdapterData;
  /** What was sent beside the text. */
  readonly files: readonly InboxFile[];
  readonly receivedAt: Date;
  /** When its replies were stored; what remains then is to send them. Null before. */
  readonly answeredAt: Date | null;
}

/** Messages received over channels. Each is stored once, however often and wherever it arrives. */
@Injectable()
export class Inbox {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** Stores messages and cursor in one transaction. Throws `LeaseLost`. @returns how many messages were new */
  receive(
    { name, fence }: ReceiverLease,
    messages: readonly InboundMessage[],
    cursor: AdapterData | null,
  ): Promise<number> {
    return this.database.transaction(async (runner) => {
      const moved = await runner.query(sql.MOVE_CURSOR, {
        ...{ name, replica: this.replica.value, fence },
        cursor: cursor === null ? null : JSON.stringify(cursor),
      });
      if (moved.length === 0) throw new LeaseLost();
      return store(runner, name, messages);
    });
  }

  /** Stores messages that may reach any replica, without a lease, and leaves out what cannot be read. @returns how many were new */
  accept(channel: string, messages: readonly InboundMessage[]): Promise<number> {
    const readableOnes = messages.flatMap((message) => readable(message) ?? []);
    return this.database.transaction((runner) => store(runner, channel, readableOnes));
  }

  /** The oldest open message; undefined when there is none. */
  async next(channel: string, conversation: string): Promise<OpenMessage | undefined> {
    const [row] = await this.database.query(sql.NEXT, { channel, conversation });
    return row && openMessage(row);
  }

  /** What became of the files of a message, in the transaction that begins its turn. */
  async noteFiles(runner: SqlRunner, { id }: OpenMessage, files: readonly InboxFile[]): Promise<void> {
    await runner.query(sql.NOTE_FILES, { id, files: JSON.stringify(files) });
  }

  /** The files of a message, with what became of them. */
  async filesOf({ id }: OpenMessage): Promise<readonly InboxFile[]> {
    return (await this.database.query(sql.FILES, { id }))[0]?.files ?? [];
  }

  /** The time by which messages are stored. */
  async now(): Promise<Date> {
    const [row] = await this.database.query(sql.NOW);
    if (row === undefined) throw new Error('the database does not tell the time');
    return row.now;
  }

  /** What the same person wrote next after this time, if it is not done. A message with files is for the agent. */
  async replyTo({ id }: OpenMessage, after: Date): Promise<OpenMessage | undefined> {
    const [row] = await this.database.query(sql.REPLY_TO, { id, after });
    return row && openMessage(row);
  }

  async done({ id }: OpenMessage, runner: SqlRunner = this.database): Promise<void> {
    await runner.query(sql.DONE, { id });
  }

  /** Deletes messages done `days` ago, at most `most`, and empty conversations. @returns how many messages */
  async prune(days: number, most: number): Promise<number> {
    const { length } = await this.database.query(sql.PRUNE, { days, most });
    if (length < most) await this.database.query(sql.PRUNE_CONVERSATIONS, { days });
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
  await runner.query(sql.UPSERT_CONVERSATION, { channel, conversations, writers });
  const stored = await runner.query(sql.STORE, {
    channel,
    conversations,
    external_ids: messages.map(({ externalId }) => externalId),
    message_ids: messages.map(() => newId('msg')),
    users: userIds,
    contents: messages.map((message) => storableText(messageText(message))),
    targets: messages.map(({ target }) => JSON.stringify(target)),
    groups: messages.map(({ isGroup }) => Number(isGroup)),
    files: messages.map((message) => JSON.stringify(sentFiles(message))),
  });
  return stored.length;
}

function openMessage(row: RowOfStatement<typeof sql.NEXT>): OpenMessage {
  return {
    id: row.id,
    channel: row.channel,
    conversation: row.conversation,
    messageId: row.message_id,
    userId: row.user_id,
    content: row.content,
    isGroup: row.is_group,
    target: row.target,
    files: row.files,
    receivedAt: row.received_at,
    answeredAt: row.answered_at,
  };
}

const INTERVAL_MS = 15 * 60_000;
/** Platforms repeat messages within days; older ones need not be recognised. */
const KEPT_DAYS = 30;
const MAX_AT_ONCE = 5000;

/** Deletes messages that were done long ago, and files that were not sent. Any number of replicas may run it. */
@Injectable()
export class InboxRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(inbox: Inbox, files: TurnFiles, logs: Logs) {
    this.job = new BatchedJob({
      failure: 'old channel messages could not be deleted',
      everyMs: INTERVAL_MS,
      logger: logs.for('channels::retention'),
      batch: async () => {
        const isMore = (await inbox.prune(KEPT_DAYS, MAX_AT_ONCE)) === MAX_AT_ONCE;
        return (await files.prune()) || isMore;
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
