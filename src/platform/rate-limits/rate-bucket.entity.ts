import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One bucket that all replicas share; `RateBucketStore` has the statements. */
@Entity('rate_buckets')
export class RateBucketEntity {
  /** The owner of the bucket, and the tier. */
  @PrimaryColumn({ type: 'text', collation: 'C' })
  key!: string;

  /** Unix milliseconds, by the database's clock, at which the bucket is full again. */
  @Column({ name: 'full_at_ms', type: 'double precision' })
  fullAtMs!: number;

  /** How long it takes to regain one token, as of the last request. */
  @Column({ name: 'token_ms', type: 'double precision' })
  tokenMs!: number;

  /** How many tokens the last statement was granted. */
  @Column({ type: 'integer' })
  granted!: number;
}
