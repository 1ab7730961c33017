import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A message that arrived over a channel: what is still to be done for it, and that it has been seen. */
@Entity('channel_messages')
@Index('channel_messages_once', { synchronize: false })
@Index('channel_messages_open', { synchronize: false })
@Index('channel_messages_done', { synchronize: false })
export class ChannelMessageEntity {
  /** The order in which messages are answered. */
  @PrimaryColumn({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column({ type: 'text', collation: 'C' })
  channel!: string;

  @Column({ type: 'text', collation: 'C' })
  conversation!: string;

  @Column({ name: 'external_id', type: 'text', collation: 'C' })
  externalId!: string;

  /** The id that it has as a message of its session. */
  @Column({ name: 'message_id', type: 'text', collation: 'C' })
  messageId!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** Emptied when it is done: it stands in the history then. */
  @Column({ type: 'text' })
  content!: string;

  /** Whether several people write there: the content then begins with a label of its writer. */
  @Column({ name: 'is_group', type: 'boolean', default: false })
  isGroup!: boolean;

  @Column({ type: 'json' })
  target!: Record<string, unknown>;

  @Column({ name: 'received_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  receivedAt!: Date;

  /** When its replies were written down. */
  @Column({ name: 'answered_at', type: 'timestamptz', precision: 3, nullable: true })
  answeredAt!: Date | null;

  @Column({ name: 'done_at', type: 'timestamptz', precision: 3, nullable: true })
  doneAt!: Date | null;
}
