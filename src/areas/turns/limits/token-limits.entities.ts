import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What the turns of an API token used on a day. */
@Entity('token_spending')
@Index('token_spending_by_day', { synchronize: false })
export class TokenSpendingEntity {
  @PrimaryColumn({ name: 'token_id', type: 'text', collation: 'C' })
  tokenId!: string;

  /** In UTC. */
  @PrimaryColumn({ type: 'date' })
  day!: string;

  /** A token can have several rows for a day; they are summed. */
  @PrimaryColumn({ type: 'smallint' })
  slot!: number;

  @Column({ name: 'input_tokens', type: 'bigint' })
  inputTokens!: string;

  @Column({ name: 'output_tokens', type: 'bigint' })
  outputTokens!: string;
}

/**
 * Bytes of attachments that are stored for an API token and those that replaced it; kept up to date by triggers on
 * `attachments`.
 */
@Entity('token_storage')
export class TokenStorageEntity {
  @PrimaryColumn({ name: 'token_family', type: 'text', collation: 'C' })
  tokenFamily!: string;

  /** A token can have several rows; only their sum means something. */
  @PrimaryColumn({ type: 'smallint' })
  slot!: number;

  @Column({ type: 'bigint' })
  bytes!: string;
}
