import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The table of messages, for migrations and the drift check; requests go through `MessageStore`. */
@Entity('messages')
@Index('messages_in_order', { synchronize: false })
export class MessageEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'session_id', type: 'text' })
  sessionId!: string;

  @Column({ name: 'turn_id', type: 'text' })
  turnId!: string;

  /** Place in the history, from 1; null while its turn waits. */
  @Column({ type: 'integer', nullable: true })
  seq!: number | null;

  @Column({ type: 'text' })
  role!: string;

  @Column({ type: 'text' })
  content!: string;

  @Column({ name: 'tool_calls', type: 'json', default: [] })
  toolCalls!: unknown[];

  @Column({ type: 'json', default: [] })
  attachments!: unknown[];

  @Column({ name: 'tokens_used', type: 'integer', default: 0 })
  tokensUsed!: number;

  @Column({ type: 'text', nullable: true })
  model!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;
}
