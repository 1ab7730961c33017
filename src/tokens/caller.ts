import type { GrantedScope } from './scopes.js';

/** Whoever holds the token of a request. */
export interface Caller {
  readonly tokenId: string;
  readonly tokenName: string;
  readonly scopes: readonly GrantedScope[];
  /** Set when the token sees only the sessions of this user. */
  readonly boundUserId: string | null;
}
