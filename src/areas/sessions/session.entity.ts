import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { SESSION_STATUSES, type SessionStatus } from './session-status.js';

/** The table of sessions. `SessionStore` has the statements. */
@Entity('sessions')
@Check('sessions_status_check', `status IN (${SESSION_STATUSES.map((status) => `'${status}'`).join(', ')})`)
@Index('sessions_newest', { synchronize: false })
@Index('sessions_newest_by_status', { synchronize: false })
@Index('sessions_newest_by_channel', { synchronize: false })
@Index('sessions_newest_by_user', { synchronize: false })
@Index('sessions_newest_by_agent', { synchronize: false })
@Index('sessions_quiet', { synchronize: false })
@Index('sessions_ended', { synchronize: false })
@Index('sessions_with_content', { synchronize: false })
export class SessionEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ type: 'text' })
  channel!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** Whether `userId` names a person; otherwise it is the name of the token that stands in for one. */
  @Column({ name: 'names_user', type: 'boolean', default: false })
  namesUser!: boolean;

  /** The name of the agent that answers; a session keeps it. */
  @Column({ type: 'text', default: 'default' })
  agent!: string;

  @Column({ type: 'text' })
  status!: SessionStatus;

  @Column({ name: 'system_prompt', type: 'text', nullable: true })
  systemPrompt!: string | null;

  @Column({ type: 'text', nullable: true })
  model!: string | null;

  @Column({ type: 'json' })
  metadata!: Readonly<Record<string, unknown>>;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @Column({ name: 'last_activity', type: 'timestamptz', precision: 3, default: () => 'now()' })
  lastActivity!: Date;

  /** Silence is counted from here; a running turn keeps it ahead of the clock. */
  @Column({ name: 'quiet_since', type: 'timestamptz', precision: 3, default: () => 'now()' })
  quietSince!: Date;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt!: Date | null;

  /** When its texts were removed (`agent.content_retention_days`). */
  @Column({ name: 'content_removed_at', type: 'timestamptz', precision: 3, nullable: true })
  contentRemovedAt!: Date | null;

  @Column({ name: 'message_count', type: 'integer', default: 0 })
  messageCount!: number;

  @Column({ name: 'turn_count', type: 'integer', default: 0 })
  turnCount!: number;

  @Column({ name: 'input_tokens', type: 'bigint', default: 0 })
  inputTokens!: string;

  @Column({ name: 'output_tokens', type: 'bigint', default: 0 })
  outputTokens!: string;

  /** The day, in UTC, of `spentTokens`. */
  @Column({ name: 'spent_on', type: 'date', nullable: true })
  spentOn!: string | null;

  @Column({ name: 'spent_tokens', type: 'bigint', default: 0 })
  spentTokens!: string;

  /** The fencing number of the turn lease: only the turn that holds the newest one may write. */
  @Column({ name: 'turn_fence', type: 'bigint', default: 0 })
  turnFence!: string;

  @Column({ name: 'turn_owner', type: 'text', nullable: true })
  turnOwner!: string | null;

  @Column({ name: 'turn_lease_until', type: 'timestamptz', precision: 3, nullable: true })
  turnLeaseUntil!: Date | null;

  /** The turn with this fence is to be cancelled; the replica that runs it checks this. */
  @Column({ name: 'cancel_fence', type: 'bigint', nullable: true })
  cancelFence!: string | null;

  /** The id of the message that has to come next, with the outputs of tools that the caller runs. */
  @Column({ name: 'awaits_message_id', type: 'text', collation: 'C', nullable: true })
  awaitsMessageId!: string | null;

  /** Messages up to this place of the history are no longer sent to the model. */
  @Column({ name: 'messages_cut', type: 'integer', default: 0 })
  messagesCut!: number;

  /** Results of tools in messages up to this place are no longer sent to the model. */
  @Column({ name: 'results_cut', type: 'integer', default: 0 })
  resultsCut!: number;
}
