import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The number of entries of a user, kept by database triggers. */
@Entity('memory_users')
export class MemoryUserEntity {
  @PrimaryColumn({ name: 'user_id', type: 'text', collation: 'C' })
  userId!: string;

  @Column({ type: 'integer' })
  entries!: number;
}

/** The number of entries of a user that have a word, kept by database triggers. */
@Entity('memory_words')
export class MemoryWordEntity {
  /** As in `MemoryEntryEntity.words`. */
  @PrimaryColumn({ type: 'text', collation: 'C' })
  word!: string;

  @Column({ type: 'integer' })
  entries!: number;
}
