import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { newId } from '../../../common/ids/typeid.js';
import { Database } from '../../../platform/database/database.js';
import type { SqlRunner, Statement } from '../../../platform/database/sql.js';
import { storableText } from '../../../platform/database/storable-text.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import { Logs } from '../../../platform/logging/logger.js';
import { BatchedJob } from '../../../platform/runtime/batched-job.js';
import { TurnFiles } from '../../turns/turns.api.js';
import type { AdapterData, InboundMessage } from '../channel-adapter.port.js';
import { LeaseLost } from '../channel-failures.js';
import type { ReceiverLease } from '../channel-states.store.js';
import { type InboxFile, messageText, sentFiles } from './message-text.js';

/** Stores cursor `$4` of channel `$1`, if replica `$2` holds it with fence `$3`. */
const MOVE_CURSOR: Statement = {
  name: 'channel_inbox.move_cursor',
  text: `
    UPDATE channel_states SET receive_cursor = coalesce($4::json, receive_cursor)
    WHERE name = $1 AND owner = $2 AND fence = $3 RETURNING name`,
};

/** `$2` conversations, `$3` their writers, null in a group. Once two people wrote, `sole_user` stays null. */
const UPSERT_CONVERSATION: Statement = {
  name: 'channel_inbox.meet_writers',
  text: `
    INSERT INTO channel_conversations AS known (channel, conversation, sole_user)
    SELECT $1, conversation, CASE WHEN count(*) = count(writer) AND min(writer) = max(writer) THEN min(writer) END
    FROM unnest($2::text[], $3::text[]) AS met (conversation, writer)
    GROUP BY conversation ORDER BY conversation
    ON CONFLICT (channel, conversation) DO UPDATE SET written_at = now(),
      sole_user = CASE WHEN known.sole_user = excluded.sole_user THEN known.sole_user END`,
};

/** A known message is not stored again. */
const STORE: Statement = {
  name: 'channel_inbox.store',
  text: `
    INSERT INTO channel_messages (channel, conversation, external_id, message_id, user_id, content, target, is_group,
      files)
    SELECT $1, conversation, external_id, message_id, user_id, content, target::json, is_group = 1, files::json
    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[])
      WITH ORDINALITY AS arrived (conversation, external_id, message_id, user_id, content, target, is_group, files, place)
    ORDER BY place
    ON CONFLICT (channel, external_id) DO NOTHING RETURNING external_id`,
};

const NEXT: Statement = {
  name: 'channel_inbox.next',
  text: `
    SELECT id, channel, conversation, message_id, user_id, content, is_group, target, files, received_at,
      answered_at
    FROM channel_messages WHERE channel = $1 AND conversation = $2 AND done_at IS NULL ORDER BY id LIMIT 1`,
};

/** The oldest open message of the writer of message `$1` behind it, in its conversation, that arrived after `$2` and has no files. */
const REPLY_TO: Statement = {
  name: 'channel_inbox.reply_to',
  text: `
    SELECT next.id, next.channel, next.conversation, next.message_id, next.user_id, next.content, next.is_group, next.target,
      next.files, next.received_at, next.answered_at
    FROM channel_messages AS asked JOIN channel_messages AS next
      ON next.channel = asked.channel AND next.conversation = asked.conversation AND next.id > asked.id
    WHERE asked.id = $1 AND next.done_at IS NULL AND next.user_id = asked.user_id AND next.received_at > $2
      AND json_array_length(next.files) = 0
    ORDER BY next.id LIMIT 1`,
};

const NOW: Statement = { name: 'channel_inbox.now', text: 'SELECT clock_timestamp() AS now' };

/** The history has the text by now; the row stays as the record that the message was seen. */
const DONE: Statement = {
  name: 'channel_inbox.done',
  text: `UPDATE channel_messages SET done_at = now(), content = '', files = '[]' WHERE id = $1`,
};

/** What became of the files of message `$1`. */
const NOTE_FILES: Statement = {
  name: 'channel_inbox.note_files',
  text: `UPDATE channel_messages SET files = $2 WHERE id = $1`,
};
const FILES: Statement = {
  name: 'channel_inbox.files',
  text: `SELECT files FROM channel_messages WHERE id = $1`,
};

/** Messages that were done `$1` days ago, with their replies; at most `$2`. */
const PRUNE: Statement = {
  name: 'channel_inbox.prune',
  text: `
    WITH old AS (
      SELECT id, message_id FROM channel_messages WHERE done_at < now() - make_interval(days => $1)
      ORDER BY done_at LIMIT $2 FOR UPDATE SKIP LOCKED
    ), replies AS (
      DELETE FROM channel_replies USING old WHERE channel_replies.message_id = old.message_id
    )
    DELETE FROM channel_messages USING old WHERE channel_messages.id = old.id RETURNING channel_messages.id`,
};

/**
 * Conversations without a message for `$1` days and with nothing open. One that receives a message meanwhile stays: the
 * conditions are checked again once its row is locked.
 */
const PRUNE_CONVERSATIONS: Statement = {
  name: 'channel_inbox.prune_conversations',
  text: `
    DELETE FROM channel_conversations AS one
    WHERE written_at < now() - make_interval(days => $1) AND (owner IS NULL OR lease_until < now())
      AND NOT EXISTS (
        SELECT 1 FROM channel_messages AS m
        WHERE m.channel = one.channel AND m.conversation = one.conversation AND m.done_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = one.session_id AND status <> 'terminated')`,
};

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

interface OpenRow {
  id: string;
  channel: string;
  conversation: string;
  message_id: string;
  user_id: string;
  content: string;
  is_group: boolean;
  target: AdapterData;
  files: InboxFile[];
  received_at: Date;
  answered_at: Date | null;
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
      const values = [name, this.replica.value, fence, cursor === null ? null : JSON.stringify(cursor)];
      if ((await runner.query(MOVE_CURSOR, values)).length === 0) throw new LeaseLost();
      return store(runner, name, messages);
    });
  }

  /** Stores messages that may reach any replica, without a lease. @returns how many were new */
  accept(channel: string, messages: readonly InboundMessage[]): Promise<number> {
    return this.database.transaction((runner) => store(runner, channel, messages));
  }

  /** The oldest open message; undefined when there is none. */
  async next(channel: string, conversation: string): Promise<OpenMessage | undefined> {
    const [row] = await this.database.query<OpenRow>(NEXT, [channel, conversation]);
    return row && openMessage(row);
  }

  /** What became of the files of a message, in the transaction that begins its turn. */
  async noteFiles(runner: SqlRunner, { id }: OpenMessage, files: readonly InboxFile[]): Promise<void> {
    await runner.query(NOTE_FILES, [id, JSON.stringify(files)]);
  }

  /** The files of a message, with what became of them. */
  async filesOf({ id }: OpenMessage): Promise<readonly InboxFile[]> {
    return (await this.database.query<{ files: InboxFile[] }>(FILES, [id]))[0]?.files ?? [];
  }

  /** The time by which messages are stored. */
  async now(): Promise<Date> {
    const [row] = await this.database.query<{ now: Date }>(NOW);
    if (row === undefined) throw new Error('the database does not tell the time');
    return row.now;
  }

  /** What the same person wrote next after this time, if it is not done. A message with files is for the agent. */
  async replyTo({ id }: OpenMessage, after: Date): Promise<OpenMessage | undefined> {
    const [row] = await this.database.query<OpenRow>(REPLY_TO, [id, after]);
    return row && openMessage(row);
  }

  async done({ id }: OpenMessage, runner: SqlRunner = this.database): Promise<void> {
    await runner.query(DONE, [id]);
  }

  /** Deletes messages done `days` ago, at most `most`, and empty conversations. @returns how many messages */
  async prune(days: number, most: number): Promise<number> {
    const { length } = await this.database.query(PRUNE, [days, most]);
    if (length < most) await this.database.query(PRUNE_CONVERSATIONS, [days]);
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
  await runner.query(UPSERT_CONVERSATION, [channel, conversations, writers]);
  const stored = await runner.query(STORE, [
    channel,
    conversations,
    messages.map(({ externalId }) => externalId),
    messages.map(() => newId('msg')),
    userIds,
    messages.map((message) => storableText(messageText(message))),
    messages.map(({ target }) => JSON.stringify(target)),
    messages.map(({ isGroup }) => Number(isGroup)),
    messages.map((message) => JSON.stringify(sentFiles(message))),
  ]);
  return stored.length;
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
