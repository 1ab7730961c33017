import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The table of log lines, for migrations and the drift check; only `LogStore` reads and writes it. */
@Entity('log_entries')
@Index('log_entries_by_time', { synchronize: false })
export class LogEntryEntity {
  @PrimaryColumn({ type: 'bigint' })
  id!: string;

  @Column({ type: 'timestamptz', precision: 3 })
  at!: Date;

  @Column({ type: 'smallint' })
  level!: number;

  @Column({ type: 'text' })
  module!: string;

  @Column({ type: 'text' })
  message!: string;

  @Column({ name: 'session_id', type: 'text', nullable: true })
  sessionId!: string | null;
}
