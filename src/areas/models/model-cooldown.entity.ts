import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A model that failed recently, for all replicas; requests go through `ModelHealth`. */
@Entity('model_cooldowns')
export class ModelCooldownEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  provider!: string;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  model!: string;

  /** A fixed word, such as `provider_unreachable`. */
  @Column({ type: 'text' })
  reason!: string;

  @Column({ name: 'failed_at', type: 'timestamptz', precision: 3 })
  failedAt!: Date;

  /** Until then another model is asked first. */
  @Column({ type: 'timestamptz', precision: 3 })
  until!: Date;
}
