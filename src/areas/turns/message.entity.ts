import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** The table of messages, for migrations and the drift check; requests go through `MessageStore`. */
@Entity('messages')
@Check('messages_role_check', `role IN ('user', 'assistant')`)
@Check('messages_incomplete_check', `incomplete IN ('cancelled', 'interrupted', 'failed')`)
@Check(
  'messages_finish_reason_check',
  `finish_reason IN ('stop', 'tool_calls', 'length', 'content_filter', 'refusal')`,
)
@Index('messages_in_order', { synchronize: false })
export class MessageEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ name: 'session_id', type: 'text', collation: 'C' })
  @ForeignKey('sessions', { name: 'messages_session_id_fkey', onDelete: 'CASCADE' })
  sessionId!: string;

  @Column({ name: 'turn_id', type: 'text', collation: 'C' })
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

  /** How the answer was cut off; null for a whole one. */
  @Column({ type: 'text', nullable: true })
  incomplete!: string | null;

  /** Why the model stopped; null for users' messages, answers that were cut off, and older rows. */
  @Column({ name: 'finish_reason', type: 'text', nullable: true })
  finishReason!: string | null;

  /** Whether the tokens are an estimate. */
  @Column({ name: 'usage_estimated', type: 'boolean', default: false })
  usageEstimated!: boolean;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;
}

/** The bytes of a message's attachment; its description is in the message itself. */
@Entity('attachments')
@Index('attachments_by_message', { synchronize: false })
export class AttachmentEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ name: 'message_id', type: 'text', collation: 'C' })
  @ForeignKey(() => MessageEntity, { name: 'attachments_message_id_fkey', onDelete: 'CASCADE' })
  messageId!: string;

  @Column({ type: 'bytea' })
  data!: Buffer;

  /**
   * The API token that it counts towards, and the tokens that replaced it; null in rows from before this was counted.
   */
  @Column({ name: 'token_family', type: 'text', collation: 'C', nullable: true })
  tokenFamily!: string | null;
}
