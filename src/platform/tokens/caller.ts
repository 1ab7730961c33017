import { type GrantedScope, grants } from './scopes.js';

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
  /** The agents that it may use, the first by default; absent for all of them. */
  readonly agents?: readonly string[];
  /** Of a JWT with an id: what `auth deny --jti` names. */
  readonly credential?: string;
  /** Of a JWT: the names of its roles in `[auth.jwt.<name>.roles]`. */
  readonly roles?: readonly string[];
  /** When what was presented ends, in Unix milliseconds; absent for an API token, whose row says it. */
  readonly expiresAtMs?: number;
  /** The channel that speaks for its users; absent for a token, whose messages come over REST. */
  readonly channel?: string;
}

/** Whose denial or revocation ends what this caller makes: the identity or the family, and the very token of a JWT. */
export function ownersOf(caller: Pick<Caller, 'tokenId' | 'familyId' | 'credential'>): string[] {
  const family = familyOf(caller);
  return caller.credential === undefined ? [family] : [family, caller.credential];
}

/** The owner of what outlives a request: a token together with those that replace it. */
export function familyOf({ tokenId, familyId = tokenId }: Pick<Caller, 'tokenId' | 'familyId'>): string {
  return familyId;
}

/** What begins the name of somebody whom nobody verified: the token that spoke. */
const UNVERIFIED = 'token:';

/**
 * The user for whom tools act in a turn that this caller began: somebody whom the gateway can vouch for. That is whose
 * token it is, who was verified as the caller or as the sender in a channel, or whom a caller with `users:act_as` names;
 * else only the token itself, whatever user the session names.
 */
export function actingUser(caller: Caller, sessionUserId: string): string {
  if (caller.boundUserId !== null) return caller.boundUserId;
  if (grants(caller.scopes, 'users:act_as')) return sessionUserId;
  return caller.verifiedUserId ?? `${UNVERIFIED}${caller.tokenName}`;
}
