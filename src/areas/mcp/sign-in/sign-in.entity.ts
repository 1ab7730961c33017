import { Column, Entity, PrimaryColumn } from 'typeorm';

const moment = { type: 'timestamptz', precision: 3, nullable: true } as const;
const textOrNull = { type: 'text', nullable: true } as const;

/** The sign-in to a tool server: a flow that waits for its browser, the tokens that it gave, or why there are none. */
@Entity('mcp_sign_ins')
export class McpSignInEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  server!: string;

  /** A hash of the settings that it was made for; with others it counts for nothing. */
  @Column({ name: 'bound_to', type: 'text' })
  boundTo!: string;

  /** Grows with each sign-in and sign-out, so that other replicas notice. */
  @Column({ type: 'integer', default: 0 })
  changes!: number;

  /** As what the gateway is registered at the authorization server. */
  @Column({ name: 'sealed_client', ...textOrNull })
  sealedClient!: string | null;

  @Column({ name: 'state_hash', ...textOrNull, unique: true })
  stateHash!: string | null;

  @Column({ name: 'sealed_flow', ...textOrNull })
  sealedFlow!: string | null;

  @Column({ name: 'flow_ends_at', ...moment })
  flowEndsAt!: Date | null;

  @Column({ name: 'sealed_tokens', ...textOrNull })
  sealedTokens!: string | null;

  /** Grows with each refresh: of those that ask at once, one is served. */
  @Column({ name: 'tokens_version', type: 'integer', default: 0 })
  tokensVersion!: number;

  /** Of the access token; null when its issuer does not say. */
  @Column({ name: 'expires_at', ...moment })
  expiresAt!: Date | null;

  /** While it lies ahead, a replica refreshes the tokens. */
  @Column({ name: 'refreshing_until', ...moment })
  refreshingUntil!: Date | null;

  /** Why the tokens of an earlier sign-in are gone. */
  @Column(textOrNull)
  problem!: string | null;

  /** Scopes that the server asked for beyond those that were granted, with these. */
  @Column({ name: 'wanted_scope', ...textOrNull })
  wantedScope!: string | null;

  @Column({ name: 'signed_in_by', ...textOrNull })
  signedInBy!: string | null;

  @Column({ name: 'signed_in_at', ...moment })
  signedInAt!: Date | null;
}
