import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The table of webhooks, for migrations and the drift check; requests go through `HookStore`. */
@Entity('hooks')
export class HookEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ type: 'text' })
  url!: string;

  @Column({ type: 'text', array: true })
  events!: string[];

  /** Set when a token bound to a user made it; it then gets only events of that user's sessions. */
  @Column({ name: 'user_id', type: 'text', nullable: true })
  userId!: string | null;

  /** The family of the token that made it and with which it ends; null for hooks older than this column. */
  @Column({ name: 'token_family', type: 'text', collation: 'C', nullable: true })
  tokenFamily!: string | null;

  /** Sealed under the master key. */
  @Column({ type: 'text', nullable: true })
  secret!: string | null;

  /** The secret before the last rotation; it also signs until `old_secret_until`. */
  @Column({ name: 'old_secret', type: 'text', nullable: true })
  oldSecret!: string | null;

  @Column({ name: 'old_secret_until', type: 'timestamptz', precision: 3, nullable: true })
  oldSecretUntil!: Date | null;

  @Column({ type: 'boolean', default: true })
  active!: boolean;

  @Column({ name: 'inactive_reason', type: 'text', nullable: true })
  inactiveReason!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;
}
