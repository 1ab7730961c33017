import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { QuestionAction } from './tool-question.js';

/** What a tool asks a person while it runs. */
@Entity('tool_questions')
@Index('tool_questions_asked', { synchronize: false })
@Index('tool_questions_of_session', { synchronize: false })
export class ToolQuestionEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ name: 'call_id', type: 'text' })
  callId!: string;

  @Column({ type: 'text' })
  tool!: string;

  @Column({ name: 'session_id', type: 'text', collation: 'C' })
  sessionId!: string;

  @Column({ type: 'text' })
  agent!: string;

  @Column({ type: 'text' })
  channel!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** The user for whom the tool acts. */
  @Column({ name: 'acts_for', type: 'text', nullable: true })
  actsFor!: string | null;

  @Column({ type: 'text' })
  message!: string;

  @Column({ type: 'jsonb' })
  schema!: Readonly<Record<string, unknown>>;

  @Column({ type: 'text', nullable: true })
  url!: string | null;

  @Column({ type: 'text', nullable: true })
  action!: QuestionAction | null;

  /** Kept only until the call that asked has read it. */
  @Column({ type: 'jsonb', nullable: true })
  content!: Readonly<Record<string, unknown>> | null;

  /** The audit's name for them. */
  @Column({ name: 'answered_by', type: 'text', nullable: true })
  answeredBy!: string | null;

  @Column({ name: 'answered_at', type: 'timestamptz', precision: 3, nullable: true })
  answeredAt!: Date | null;

  @Column({ name: 'asked_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  askedAt!: Date;

  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  /** Renewed by the call that waits. */
  @Column({ name: 'awaited_until', type: 'timestamptz', precision: 3 })
  awaitedUntil!: Date;
}
