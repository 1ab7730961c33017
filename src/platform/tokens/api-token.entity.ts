import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { GrantedScope } from './scopes.js';

/** An API token as it is stored: never the token, only its SHA-256. */
@Entity('api_tokens')
@Index('api_tokens_sha256', { synchronize: false })
@Index('api_tokens_family', { synchronize: false })
@Index('api_tokens_created', { synchronize: false })
@Index('api_tokens_maker', { synchronize: false })
@Index('api_tokens_maker_credential', { synchronize: false })
export class ApiTokenEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'bytea' })
  sha256!: Buffer;

  @Column({ type: 'text', array: true })
  scopes!: GrantedScope[];

  @Column({ name: 'user_id', type: 'text', nullable: true })
  userId!: string | null;

  /** The only agents that it may use, the first one by default. */
  @Column({ type: 'json', nullable: true })
  agents!: string[] | null;

  /** The first of the tokens that this one replaced; null when it replaced none. */
  @Column({ name: 'family_id', type: 'text', collation: 'C', nullable: true })
  familyId!: string | null;

  /** The family of the token, or the identity, that made it; null when operators made it. */
  @Column({ name: 'maker_family', type: 'text', collation: 'C', nullable: true })
  makerFamily!: string | null;

  /** The JWT that made it, if that has an id. */
  @Column({ name: 'maker_credential', type: 'text', collation: 'C', nullable: true })
  makerCredential!: string | null;

  /** When GATEWAY_BOOTSTRAP_TOKEN set it; the newest of these tokens replaced the others. */
  @Column({ name: 'bootstrap_at', type: 'timestamptz', precision: 3, nullable: true })
  bootstrapAt!: Date | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt!: Date;

  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3, nullable: true })
  expiresAt!: Date | null;

  @Column({ name: 'last_used_at', type: 'timestamptz', precision: 3, nullable: true })
  lastUsedAt!: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', precision: 3, nullable: true })
  revokedAt!: Date | null;
}
