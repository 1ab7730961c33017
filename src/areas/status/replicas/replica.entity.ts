import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A replica that runs, or ran within the last hour and did not say that it stops; `ReplicaRegister` keeps it. */
@Entity('replicas')
export class ReplicaEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ type: 'text' })
  version!: string;

  @Column({ name: 'started_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  startedAt!: Date;

  /** By the clock of the database. */
  @Column({ name: 'seen_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  seenAt!: Date;

  /** How far its clock is ahead of the database's. */
  @Column({ name: 'clock_skew_ms', type: 'integer' })
  clockSkewMs!: number;
}
