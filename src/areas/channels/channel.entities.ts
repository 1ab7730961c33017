import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { TurnFile } from '../turns/turns.api.js';
import type { ChannelStatus } from './channel.port.js';
import type { AdapterData } from './channel-adapter.port.js';
import type { InboxFile } from './inbound/message-text.js';

/** The shared state of a channel, and which replica receives for it. */
@Entity('channel_states')
@Check('channel_states_status_check', `status IN ('connected', 'reconnecting', 'disconnected')`)
export class ChannelStateEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  name!: string;

  @Column({ name: 'last_message_at', type: 'timestamptz', precision: 3, nullable: true })
  lastMessageAt!: Date | null;

  @Column({ type: 'text', default: 'reconnecting' })
  status!: ChannelStatus;

  @Column({ name: 'connected_at', type: 'timestamptz', precision: 3, nullable: true })
  connectedAt!: Date | null;

  @Column({ type: 'text', nullable: true })
  error!: string | null;

  /** The replica that receives, until its lease ends. */
  @Column({ type: 'text', nullable: true })
  owner!: string | null;

  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3, nullable: true })
  leaseUntil!: Date | null;

  /** Grows with every new owner, so that writes of an earlier owner change nothing. */
  @Column({ type: 'bigint', default: 0 })
  fence!: string;

  /** Counts requested restarts; the receiving replica compares it. */
  @Column({ type: 'bigint', default: 0 })
  restarts!: string;

  /** Where to resume receiving; only the adapter reads it. */
  @Column({ name: 'receive_cursor', type: 'json', nullable: true })
  receiveCursor!: AdapterData | null;
}

/** A conversation of a channel, its session, and the replica that answers in it. */
@Entity('channel_conversations')
@Index('channel_conversations_quiet', { synchronize: false })
@Index('channel_conversations_by_session', { synchronize: false })
export class ConversationEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  channel!: string;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  conversation!: string;

  @Column({ name: 'session_id', type: 'text', collation: 'C', nullable: true })
  sessionId!: string | null;

  /** The only person who writes and reads there; null once there is another. */
  @Column({ name: 'sole_user', type: 'text', nullable: true })
  soleUser!: string | null;

  @Column({ type: 'text', nullable: true })
  owner!: string | null;

  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3, nullable: true })
  leaseUntil!: Date | null;

  @Column({ type: 'bigint', default: 0 })
  fence!: string;

  /** It is not claimed before then. */
  @Column({ name: 'retry_at', type: 'timestamptz', precision: 3, nullable: true })
  retryAt!: Date | null;

  /** Failed attempts in a row. */
  @Column({ type: 'integer', default: 0 })
  failures!: number;

  /** Time of the latest message. */
  @Column({ name: 'written_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  writtenAt!: Date;
}

/** A message received over a channel: how far it was processed, and the record that it was seen. */
@Entity('channel_messages')
@Index('channel_messages_once', { synchronize: false })
@Index('channel_messages_open', { synchronize: false })
@Index('channel_messages_by_user', { synchronize: false })
@Index('channel_messages_done', { synchronize: false })
export class ChannelMessageEntity {
  /** Messages are answered in this order. */
  @PrimaryColumn({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column({ type: 'text', collation: 'C' })
  channel!: string;

  @Column({ type: 'text', collation: 'C' })
  conversation!: string;

  @Column({ name: 'external_id', type: 'text', collation: 'C' })
  externalId!: string;

  /** Its id as a message of its session. */
  @Column({ name: 'message_id', type: 'text', collation: 'C' })
  messageId!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** Emptied when done; the session's history has it by then. */
  @Column({ type: 'text' })
  content!: string;

  /** Whether several people write there; the content then begins with a label of the writer. */
  @Column({ name: 'is_group', type: 'boolean', default: false })
  isGroup!: boolean;

  @Column({ type: 'json' })
  target!: AdapterData;

  /** What was sent beside the text, and what became of it; emptied when done. */
  @Column({ type: 'json', default: [] })
  files!: InboxFile[];

  @Column({ name: 'received_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  receivedAt!: Date;

  /** When its replies were stored. */
  @Column({ name: 'answered_at', type: 'timestamptz', precision: 3, nullable: true })
  answeredAt!: Date | null;

  @Column({ name: 'done_at', type: 'timestamptz', precision: 3, nullable: true })
  doneAt!: Date | null;
}

/** `draft`: shown while the answer is written. `unknown`: may have arrived, so it is not sent again. */
export type ReplyStatus = 'draft' | 'pending' | 'sending' | 'sent' | 'unknown' | 'failed';

/** One part of an answer, and how far it was sent. */
@Entity('channel_replies')
@Check(
  'channel_replies_status_check',
  `status IN ('draft', 'pending', 'sending', 'sent', 'unknown', 'failed')`,
)
export class ChannelReplyEntity {
  @PrimaryColumn({ name: 'message_id', type: 'text', collation: 'C' })
  messageId!: string;

  /** From 1. */
  @PrimaryColumn({ type: 'integer' })
  part!: number;

  /** Its text, or the name of the file. */
  @Column({ type: 'text' })
  content!: string;

  @Column({ type: 'text' })
  status!: ReplyStatus;

  /** The file that it is; null for text. */
  @Column({ type: 'json', nullable: true })
  file!: TurnFile | null;

  /** The platform's id once it has one; from then on the part is edited, not sent. */
  @Column({ name: 'external_id', type: 'text', nullable: true })
  externalId!: string | null;

  @Column({ type: 'integer', default: 0 })
  attempts!: number;

  /** Why it was not sent, the last time. */
  @Column({ type: 'text', nullable: true })
  error!: string | null;
}
