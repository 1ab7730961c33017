import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

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
