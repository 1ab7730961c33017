import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A row's place in the chain; written by `sealBatch` alone. */
@Entity('audit_seals')
@Index('audit_seals_of_entry', ['entryId'], { unique: true })
export class AuditSealEntity {
  /** Without gaps, starting after the newest checkpoint. */
  @PrimaryColumn({ type: 'bigint' })
  sequence!: string;

  @Column({ name: 'entry_id', type: 'bigint' })
  entryId!: string;

  @Column({ type: 'bytea' })
  hash!: Buffer;
}

/** A row without a seal; a trigger on `audit_entries` writes it. */
@Entity('audit_unsealed')
export class AuditUnsealedEntity {
  @PrimaryColumn({ name: 'entry_id', type: 'bigint' })
  entryId!: string;
}

/** Where the chain begins after retention has deleted the rows before. */
@Entity('audit_checkpoints')
export class AuditCheckpointEntity {
  /** Of the last deleted row. */
  @PrimaryColumn({ type: 'bigint' })
  sequence!: string;

  @Column({ type: 'bytea' })
  hash!: Buffer;

  /** Sequence and hash, sealed with the master key. */
  @Column({ type: 'text' })
  signature!: string;

  @Column({ name: 'made_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  madeAt!: Date;
}
