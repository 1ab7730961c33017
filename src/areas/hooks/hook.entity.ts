import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The table of webhooks, for migrations and the drift check; requests go through `HookStore`. */
@Entity('hooks')
@Index('hooks_of_tasks', { synchronize: false })
@Index('hooks_of_events', { synchronize: false })
export class HookEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ type: 'text' })
  url!: string;

  @Column({ type: 'text', array: true })
  events!: string[];

  /** Set when a token bound to a user made it; it then gets only events of that user's sessions. */
  @Column({ name: 'user_id', type: 'text', nullable: true })
  userId!: string | null;

  /** The family of the token that made it and with which it ends; null for hooks older than this column. */
  @Column({ name: 'token_family', type: 'text', collation: 'C', nullable: true })
  tokenFamily!: string | null;

  /** The very token of the identity that made it, if it has an id; the hook ends with it too. */
  @Column({ name: 'made_with', type: 'text', collation: 'C', nullable: true })
  madeWith!: string | null;

  /** Sealed under the master key. */
  @Column({ type: 'text', nullable: true })
  secret!: string | null;

  /** The secret before the last rotation; it also signs until `old_secret_until`. */
  @Column({ name: 'old_secret', type: 'text', nullable: true })
  oldSecret!: string | null;

  @Column({ name: 'old_secret_until', type: 'timestamptz', precision: 3, nullable: true })
  oldSecretUntil!: Date | null;

  /** The message of the only turn that it is told of; null for one that is told of events. */
  @Column({ name: 'message_id', type: 'text', collation: 'C', nullable: true })
  messageId!: string | null;

  /** Its name among those that are told of the same turn. */
  @Column({ name: 'config_id', type: 'text', collation: 'C', nullable: true })
  configId!: string | null;

  @Column({ type: 'boolean', default: true })
  active!: boolean;

  @Column({ name: 'inactive_reason', type: 'text', nullable: true })
  inactiveReason!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;
}

/** The state of deliveries to one hook; the queries are in `LaneStore`. */
@Entity('hook_lanes')
export class HookLaneEntity {
  @PrimaryColumn({ name: 'hook_id', type: 'text', collation: 'C' })
  hookId!: string;

  /** The number of this hook's latest numbered delivery. */
  @Column({ type: 'bigint', default: 0 })
  sequence!: string;

  /** The replica that makes this hook's first attempts, until its lease ends. */
  @Column({ type: 'text', nullable: true })
  owner!: string | null;

  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3, nullable: true })
  leaseUntil!: Date | null;

  /** Since when every attempt failed. */
  @Column({ name: 'failing_since', type: 'timestamptz', precision: 3, nullable: true })
  failingSince!: Date | null;
}

/** One event for one hook; created by `emit_event`, updated by `LaneStore`, `RetryStore` and `OutcomeStore`. */
@Entity('hook_deliveries')
@Check('hook_deliveries_status_check', `status IN ('pending', 'delivered', 'failed')`)
@Index('hook_deliveries_unsent', { synchronize: false })
@Index('hook_deliveries_due', { synchronize: false })
@Index('hook_deliveries_done', { synchronize: false })
@Index('hook_deliveries_by_event', { synchronize: false })
export class HookDeliveryEntity {
  @PrimaryColumn({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column({ name: 'hook_id', type: 'text', collation: 'C' })
  hookId!: string;

  @Column({ name: 'event_id', type: 'text', collation: 'C' })
  eventId!: string;

  /** The name under which this hook gets the event. */
  @Column({ type: 'text' })
  event!: string;

  /** Null until the first attempt, which decides the order of the hook's events. */
  @Column({ type: 'bigint', nullable: true })
  sequence!: string | null;

  @Column({ type: 'text', default: 'pending' })
  status!: string;

  @Column({ type: 'integer', default: 0 })
  attempts!: number;

  @Column({ name: 'next_attempt_at', type: 'timestamptz', precision: 3, nullable: true })
  nextAttemptAt!: Date | null;

  @Column({ name: 'last_attempt_at', type: 'timestamptz', precision: 3, nullable: true })
  lastAttemptAt!: Date | null;

  @Column({ name: 'last_status', type: 'integer', nullable: true })
  lastStatus!: number | null;

  @Column({ name: 'last_error', type: 'text', nullable: true })
  lastError!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @Column({ name: 'done_at', type: 'timestamptz', precision: 3, nullable: true })
  doneAt!: Date | null;
}
