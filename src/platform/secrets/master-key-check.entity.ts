import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The one row that shows whether a master key belongs to this database; `master-key-check.ts` has the queries. */
@Entity('master_key_check')
@Check('master_key_check_id_check', 'id = 1')
export class MasterKeyCheckEntity {
  @PrimaryColumn({ type: 'smallint' })
  id!: number;

  /** A known word, sealed with the master key. */
  @Column({ type: 'text' })
  sealed!: string;
}
