import type { GrantedScope } from './scopes.js';

/** A token as its owner may see it again: everything but the token. */
export interface ApiToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly GrantedScope[];
  readonly boundUserId: string | null;
  /** The first of the tokens that were replaced by this one, else its own id. What a token makes belongs to its family. */
  readonly familyId: string;
  /** When GATEWAY_BOOTSTRAP_TOKEN brought it; null for all others. */
  readonly bootstrapAt: Date | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}
