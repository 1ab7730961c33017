import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An identity of the company's identity provider, or one token of it, that is refused. */
@Entity('identity_denials')
export class IdentityDenialEntity {
  /** `issuer|subject`, or `jti:issuer|jti` for one token. */
  @PrimaryColumn({ type: 'text', collation: 'C' })
  owner!: string;

  @Column({ type: 'text' })
  issuer!: string;

  @Column({ type: 'text', nullable: true })
  subject!: string | null;

  @Column({ type: 'text', nullable: true })
  jti!: string | null;

  @Column({ name: 'denied_at', type: 'timestamptz', precision: 3, default: () => 'now()' })
  deniedAt!: Date;

  @Column({ name: 'denied_by', type: 'text' })
  deniedBy!: string;
}
