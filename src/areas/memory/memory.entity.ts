import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A fact that is remembered about a user; for migrations and the drift check. `MemoryStore` has the statements. */
@Entity('memory_entries')
@Index('memory_entries_once', { synchronize: false })
@Index('memory_entries_newest', { synchronize: false })
@Index('memory_entries_words', { synchronize: false })
export class MemoryEntryEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ name: 'user_id', type: 'text', collation: 'C' })
  userId!: string;

  @Column({ type: 'text' })
  content!: string;

  /** SHA-256 of the content: a user has the same content once. */
  @Column({ type: 'text', collation: 'C' })
  digest!: string;

  /** Word stems, each with the user's mark as prefix, so that one index serves all users. */
  @Column({ type: 'tsvector' })
  words!: string;

  /** The session in which it was stored. */
  @Column({ name: 'session_id', type: 'text', collation: 'C' })
  sessionId!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  /** When it was last stored or recalled, to the day. */
  @Column({ name: 'used_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  usedAt!: Date;
}

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
