import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One bucket that all replicas share; the statements are in `RateBucketStore`. */
@Entity('rate_buckets')
export class RateBucketEntity {
  /** Whose bucket, and the tier. */
  @PrimaryColumn({ type: 'text', collation: 'C' })
  key!: string;

  /** Unix milliseconds, by the database's clock, at which the bucket is full again. */
  @Column({ name: 'full_at_ms', type: 'double precision' })
  fullAtMs!: number;

  /** How long one token takes to come back, as of the last request. */
  @Column({ name: 'token_ms', type: 'double precision' })
  tokenMs!: number;

  /** How many tokens the last statement was granted. */
  @Column({ type: 'integer' })
  granted!: number;
}
