import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A tool call that waits for a person, or did. */
@Entity('tool_approvals')
@Index('tool_approvals_asked', { synchronize: false })
@Index('tool_approvals_call', ['turnId', 'callId'], { unique: true })
export class ToolApprovalEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ name: 'call_id', type: 'text' })
  callId!: string;

  /** The approval ends with its turn; absent in rows of earlier versions. */
  @Column({ name: 'turn_id', type: 'text', collation: 'C', nullable: true })
  turnId!: string | null;

  @Column({ type: 'text' })
  tool!: string;

  @Column({ type: 'jsonb' })
  arguments!: Readonly<Record<string, unknown>>;

  @Column({ name: 'session_id', type: 'text', collation: 'C' })
  sessionId!: string;

  @Column({ type: 'text' })
  channel!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** The name of the token whose message made the call, or the channel's; absent in rows of earlier versions. */
  @Column({ name: 'asked_by', type: 'text', nullable: true })
  askedBy!: string | null;

  @Column({ type: 'text', nullable: true })
  verdict!: 'allowed' | 'denied' | null;

  /** The audit's name for them. */
  @Column({ name: 'decided_by', type: 'text', nullable: true })
  decidedBy!: string | null;

  @Column({ name: 'decided_at', type: 'timestamptz', precision: 3, nullable: true })
  decidedAt!: Date | null;

  @Column({ type: 'text', nullable: true })
  reason!: string | null;

  @Column({ name: 'asked_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  askedAt!: Date;

  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
