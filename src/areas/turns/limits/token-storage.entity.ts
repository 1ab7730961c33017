import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Bytes of attachments that are stored for an API token and those that replaced it; triggers on `attachments` keep it. */
@Entity('token_storage')
export class TokenStorageEntity {
  @PrimaryColumn({ name: 'token_family', type: 'text', collation: 'C' })
  tokenFamily!: string;

  /** Rows of one token are summed; each is by itself nothing. */
  @PrimaryColumn({ type: 'smallint' })
  slot!: number;

  @Column({ type: 'bigint' })
  bytes!: string;
}
