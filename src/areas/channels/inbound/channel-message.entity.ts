import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A message received over a channel: how far it was processed, and the record that it was seen. */
@Entity('channel_messages')
@Index('channel_messages_once', { synchronize: false })
@Index('channel_messages_open', { synchronize: false })
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
  target!: Record<string, unknown>;

  @Column({ name: 'received_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  receivedAt!: Date;

  /** When its replies were stored. */
  @Column({ name: 'answered_at', type: 'timestamptz', precision: 3, nullable: true })
  answeredAt!: Date | null;

  @Column({ name: 'done_at', type: 'timestamptz', precision: 3, nullable: true })
  doneAt!: Date | null;
}
