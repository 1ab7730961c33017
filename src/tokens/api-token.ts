import type { GrantedScope } from './scopes.js';

/** A token as its owner may see it again: everything but the token. */
export interface ApiToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly GrantedScope[];
  readonly boundUserId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}
