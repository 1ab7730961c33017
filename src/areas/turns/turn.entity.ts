import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { StoredError } from '../../common/errors/gateway-error.js';
import { TURN_STATUSES, type TurnStatus } from './turn-status.js';

/** A model that failed before another one answered. */
export interface Failover {
  readonly model: string;
  readonly reason: string;
}

/** The table of turns. */
@Entity('turns')
@Check('turns_status_check', `status IN (${TURN_STATUSES.map((status) => `'${status}'`).join(', ')})`)
@Index('turns_by_session', { synchronize: false })
@Index('turns_waiting', { synchronize: false })
@Index('turns_running', { synchronize: false })
@Index('turns_awaiting_approval', { synchronize: false })
@Index('turns_newest', { synchronize: false })
@Index('turns_changed', { synchronize: false })
@Index('turns_without_answer', { synchronize: false })
export class TurnEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ name: 'session_id', type: 'text', collation: 'C' })
  @ForeignKey('sessions', { name: 'turns_session_id_fkey', onDelete: 'CASCADE' })
  sessionId!: string;

  @Column({ name: 'user_message_id', type: 'text', collation: 'C' })
  userMessageId!: string;

  /** The order in which messages to a busy session are answered. */
  @Column({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS' })
  arrival!: string;

  @Column({ type: 'text' })
  status!: TurnStatus;

  @Column({ type: 'bigint', nullable: true })
  fence!: string | null;

  @Column({ type: 'text', nullable: true })
  owner!: string | null;

  /** The API token whose limits it counts towards; for a channel's turn, that of the channel. */
  @Column({ name: 'token_id', type: 'text', nullable: true })
  tokenId!: string | null;

  @Column({ name: 'wait_until', type: 'timestamptz', precision: 3, nullable: true })
  waitUntil!: Date | null;

  @Column({ type: 'text', nullable: true })
  reason!: string | null;

  /** The sender of an accepted message while it waits, so that any replica can answer it. */
  @Column({ type: 'json', nullable: true })
  caller!: Record<string, unknown> | null;

  /** How a waiting message is to be answered. */
  @Column({ type: 'json', nullable: true })
  options!: Record<string, unknown> | null;

  /**
   * The sender of a message whose turn has begun, and how it is to be answered, so that any replica can continue it;
   * deleted at its end.
   */
  @Column({ type: 'json', nullable: true })
  origin!: Record<string, unknown> | null;

  /** How often it was begun or taken up since its last step. */
  @Column({ type: 'integer', default: 1 })
  attempts!: number;

  /** How often another replica continued it. */
  @Column({ name: 'take_ups', type: 'integer', default: 0 })
  takeUps!: number;

  /** When it was last taken up. */
  @Column({ name: 'attempt_at', type: 'timestamptz', precision: 3, nullable: true })
  attemptAt!: Date | null;

  /** For a turn that awaits approval: when it is taken up even if nobody has decided. */
  @Column({ name: 'wake_at', type: 'timestamptz', precision: 3, nullable: true })
  wakeAt!: Date | null;

  /** Milliseconds that it ran before it was parked or handed over, without waiting for people. */
  @Column({ name: 'ran_ms', type: 'integer', default: 0 })
  ranMs!: number;

  /** What the caller that waited for the answer was told instead. */
  @Column({ type: 'json', nullable: true })
  failure!: StoredError | null;

  /** The models that failed before another one answered, and why; null when none did. */
  @Column({ type: 'jsonb', nullable: true })
  failovers!: readonly Failover[] | null;

  /** Media types of what came with the message and was not shown to the model that answered; null when it saw everything. */
  @Column({ name: 'unseen_media', type: 'json', nullable: true })
  unseenMedia!: readonly string[] | null;

  @Column({ type: 'text', nullable: true })
  model!: string | null;

  @Column({ name: 'input_tokens', type: 'bigint', default: 0 })
  inputTokens!: string;

  @Column({ name: 'output_tokens', type: 'bigint', default: 0 })
  outputTokens!: string;

  /** Part of the input: what came from the provider's cache. */
  @Column({ name: 'cached_input_tokens', type: 'bigint', default: 0 })
  cachedInputTokens!: string;

  @Column({ name: 'cache_write_tokens', type: 'bigint', default: 0 })
  cacheWriteTokens!: string;

  /** Part of the output: the model's thoughts. */
  @Column({ name: 'reasoning_tokens', type: 'bigint', default: 0 })
  reasoningTokens!: string;

  /** Tokens, in and out, of calls whose price is unknown. */
  @Column({ name: 'unpriced_tokens', type: 'bigint', default: 0 })
  unpricedTokens!: string;

  /** In US dollars, of the calls whose price is known; null when there is none. */
  @Column({ name: 'cost_usd', type: 'numeric', nullable: true })
  costUsd!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3, nullable: true })
  startedAt!: Date | null;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt!: Date | null;
}
