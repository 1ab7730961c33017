import type { GrantedScope } from './scopes.js';

/** The holder of a request's token. */
export interface Caller {
  readonly tokenId: string;
  readonly tokenName: string;
  /** The first of the tokens that were replaced by this one; absent for one that replaced none. */
  readonly familyId?: string;
  readonly scopes: readonly GrantedScope[];
  /** Set when the token sees only the sessions of this user. */
  readonly boundUserId: string | null;
  /**
   * Whom the caller was verified to be, beside a bound token: the sender of a message in a channel that let them in, or
   * `issuer|subject` of a JWT. Stored with turns that wait, so it must stay plain data.
   */
  readonly verifiedUserId?: string;
  /** The only agents that it may use, the first one by default; absent for all. */
  readonly agents?: readonly string[];
  /** Names of the roles that a company's identity provider gave it. */
  readonly roles?: readonly string[];
  /** When what was presented ends, in Unix milliseconds; absent for an API token, whose row says it. */
  readonly expiresAtMs?: number;
  /** The channel that speaks for its users; absent for a token, whose messages come over REST. */
  readonly channel?: string;
}

/** The owner of what outlives a request: a token together with those that replace it. */
export function familyOf({ tokenId, familyId = tokenId }: Pick<Caller, 'tokenId' | 'familyId'>): string {
  return familyId;
}
