import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Something that is remembered of a user, for migrations and the drift check; `MemoryStore` has the statements. */
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

  /** Of the content: the same is remembered once. */
  @Column({ type: 'text', collation: 'C' })
  digest!: string;

  /** Stems, each behind the mark of the user, so that an index of all users' words finds one user's. */
  @Column({ type: 'tsvector' })
  words!: string;

  /** Where it was told. */
  @Column({ name: 'session_id', type: 'text', collation: 'C' })
  sessionId!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  /** When it was last told or recalled, to the day. */
  @Column({ name: 'used_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  usedAt!: Date;
}
