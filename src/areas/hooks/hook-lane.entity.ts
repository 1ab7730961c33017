import { Column, Entity, PrimaryColumn } from 'typeorm';

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
