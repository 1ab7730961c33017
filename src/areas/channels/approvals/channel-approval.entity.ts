import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { AdapterData } from '../channel-adapter.port.js';

/** The message with buttons about a tool call that waits, in the conversation where it was asked. */
@Entity('channel_approvals')
@Check('channel_approvals_status_check', `status IN ('new', 'shown', 'closed')`)
@Index('channel_approvals_code', ['code'], { unique: true })
export class ChannelApprovalEntity {
  @PrimaryColumn({ name: 'approval_id', type: 'text', collation: 'C' })
  approvalId!: string;

  @Column({ type: 'text', collation: 'C' })
  channel!: string;

  /** The code in its buttons: random, so that only people who have seen the message can know it. */
  @Column({ type: 'text', collation: 'C' })
  code!: string;

  @Column({ type: 'json' })
  target!: AdapterData;

  @Column({ name: 'session_id', type: 'text', collation: 'C' })
  sessionId!: string;

  /** Whose message made the call. */
  @Column({ type: 'text' })
  asker!: string;

  @Column({ type: 'text' })
  title!: string;

  @Column({ type: 'text' })
  details!: string;

  @Column({ type: 'text', default: 'new' })
  status!: 'new' | 'shown' | 'closed';

  /** The platform's id of the message. */
  @Column({ name: 'external_id', type: 'text', nullable: true })
  externalId!: string | null;

  /** The display name of the person who clicked first. */
  @Column({ type: 'text', nullable: true })
  decider!: string | null;

  /** Until then a replica sends or edits it, or waits before it tries again. */
  @Column({ name: 'due_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  dueAt!: Date;

  /** Failed attempts in a row. */
  @Column({ type: 'integer', default: 0 })
  attempts!: number;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;
}
