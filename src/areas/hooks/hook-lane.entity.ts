import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What moves while a hook is sent to; the queries are in `LaneStore`. */
@Entity('hook_lanes')
export class HookLaneEntity {
  @PrimaryColumn({ name: 'hook_id', type: 'text', collation: 'C' })
  hookId!: string;

  /** The last number that was given to a delivery of this hook. */
  @Column({ type: 'bigint', default: 0 })
  sequence!: string;

  /** The replica that makes this hook's first attempts, until the lease runs out. */
  @Column({ type: 'text', nullable: true })
  owner!: string | null;

  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3, nullable: true })
  leaseUntil!: Date | null;

  /** Since when nothing but failures came back. */
  @Column({ name: 'failing_since', type: 'timestamptz', precision: 3, nullable: true })
  failingSince!: Date | null;
}
