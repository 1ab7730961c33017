import type { JWK } from 'jose';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A key pair that signs assertions; for migrations and the drift check. `AssertionKeysStore` has the statements. */
@Entity('assertion_keys')
export class AssertionKeyEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  kid!: string;

  /** A JWK, as it is published. */
  @Column({ name: 'public_key', type: 'json' })
  publicKey!: JWK;

  /** The private half as a JWK, sealed. */
  @Column({ name: 'sealed_key', type: 'text' })
  sealedKey!: string;

  /** It signs from then on, until the next one does. */
  @Column({ name: 'signs_at', type: 'timestamptz', precision: 3 })
  signsAt!: Date;
}
