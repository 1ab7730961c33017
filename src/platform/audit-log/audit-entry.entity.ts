import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** Who did what. Only `AuditLog` writes it; the entity is for migrations and the drift check. */
@Entity('audit_entries')
@Index('audit_entries_happened', { synchronize: false })
@Index('audit_entries_by_actor', { synchronize: false })
@Index('audit_entries_by_action', { synchronize: false })
@Index('audit_entries_by_target', { synchronize: false })
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

  /** Where the request came from; null for actions outside the API. */
  @Column({ type: 'text', nullable: true })
  address!: string | null;

  @Column({ type: 'jsonb' })
  details!: Record<string, unknown>;
}
