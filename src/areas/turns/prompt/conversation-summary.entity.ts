import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** What replaces the oldest messages of a session; `ContextCutsStore` has the statements. */
@Entity('conversation_summaries')
export class ConversationSummaryEntity {
  @PrimaryColumn({ name: 'session_id', type: 'text', collation: 'C' })
  @ForeignKey('sessions', { name: 'conversation_summaries_session_id_fkey', onDelete: 'CASCADE' })
  sessionId!: string;

  /** The places in the history of the first and the last message that it replaces. */
  @Column({ name: 'first_seq', type: 'integer' })
  firstSeq!: number;

  @PrimaryColumn({ name: 'last_seq', type: 'integer' })
  lastSeq!: number;

  @Column({ type: 'text' })
  content!: string;

  /** The model that wrote it. */
  @Column({ type: 'text' })
  model!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;
}
