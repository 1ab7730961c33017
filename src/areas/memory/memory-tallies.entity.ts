import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How many entries a user has; triggers keep it. */
@Entity('memory_users')
export class MemoryUserEntity {
  @PrimaryColumn({ name: 'user_id', type: 'text', collation: 'C' })
  userId!: string;

  @Column({ type: 'integer' })
  entries!: number;
}

/** How many entries of a user have a word; triggers keep it. */
@Entity('memory_words')
export class MemoryWordEntity {
  /** As in `MemoryEntryEntity.words`. */
  @PrimaryColumn({ type: 'text', collation: 'C' })
  word!: string;

  @Column({ type: 'integer' })
  entries!: number;
}
