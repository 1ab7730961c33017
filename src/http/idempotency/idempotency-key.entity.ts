import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** The table of Idempotency-Keys, for migrations and the drift check; requests go through `KeyStore`. */
@Entity('idempotency_keys')
@Index('idempotency_keys_created', { synchronize: false })
@Index('idempotency_keys_turn', { synchronize: false })
export class IdempotencyKeyEntity {
  /** A hash of the token's family, method, path and key. */
  @PrimaryColumn({ type: 'text', collation: 'C' })
  scope!: string;

  @Column({ name: 'token_id', type: 'text', collation: 'C' })
  tokenId!: string;

  /** Method and route, for operators. */
  @Column({ type: 'text' })
  operation!: string;

  /** A hash of profile, query and body. */
  @Column({ type: 'text', collation: 'C' })
  request!: string;

  /** The turn from which the response is replayed. */
  @Column({ name: 'turn_id', type: 'text', collation: 'C', nullable: true })
  @ForeignKey('TurnEntity', { name: 'idempotency_keys_turn_id_fkey', onDelete: 'CASCADE' })
  turnId!: string | null;

  /** The replica that serves the request. */
  @Column({ type: 'text', nullable: true })
  owner!: string | null;

  @Column({ name: 'lease_until', type: 'timestamptz', precision: 3, nullable: true })
  leaseUntil!: Date | null;

  @Column({ type: 'smallint', nullable: true })
  status!: number | null;

  @Column({ type: 'json', nullable: true })
  headers!: Record<string, string> | null;

  @Column({ type: 'text', nullable: true })
  body!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;
}
