import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** Who did what, for migrations and the drift check; written by `AuditLog` alone. */
@Entity('audit_entries')
@Index('audit_entries_happened', { synchronize: false })
export class AuditEntryEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column({ name: 'happened_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  happenedAt!: Date;

  @Column({ type: 'text' })
  action!: string;

  @Column({ type: 'text' })
  actor!: string;

  @Column({ type: 'text' })
  target!: string;

  @Column({ type: 'text' })
  outcome!: string;

  @Column({ name: 'session_id', type: 'text', collation: 'C', nullable: true })
  sessionId!: string | null;

  @Column({ type: 'jsonb' })
  details!: Record<string, unknown>;
}
