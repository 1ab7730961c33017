import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

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
