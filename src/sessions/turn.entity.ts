import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The table of turns, for migrations and the drift check; requests go through `TurnStore`. */
@Entity('turns')
@Index('turns_waiting', { synchronize: false })
@Index('turns_running', { synchronize: false })
export class TurnEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'session_id', type: 'text' })
  sessionId!: string;

  @Column({ name: 'user_message_id', type: 'text' })
  userMessageId!: string;

  /** The order in which messages to a busy session are answered. */
  @Column({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS' })
  arrival!: string;

  @Column({ type: 'text' })
  status!: string;

  @Column({ type: 'bigint', nullable: true })
  fence!: string | null;

  @Column({ type: 'text', nullable: true })
  owner!: string | null;

  @Column({ name: 'wait_until', type: 'timestamptz', precision: 3, nullable: true })
  waitUntil!: Date | null;

  @Column({ type: 'text', nullable: true })
  reason!: string | null;

  @Column({ type: 'text', nullable: true })
  model!: string | null;

  @Column({ name: 'input_tokens', type: 'bigint', default: 0 })
  inputTokens!: string;

  @Column({ name: 'output_tokens', type: 'bigint', default: 0 })
  outputTokens!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3, nullable: true })
  startedAt!: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt!: Date | null;
}
