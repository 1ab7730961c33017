import { type GrantedScope, grants } from './scopes.js';

/** The holder of a request's token. */
export interface Caller {
  readonly tokenId: string;
  readonly tokenName: string;
  /** The first of the tokens that this one replaced; absent when it replaced none. */
  readonly familyId?: string;
  readonly scopes: readonly GrantedScope[];
  /** Set when the token sees only the sessions of this user. */
  readonly boundUserId: string | null;
  /**
   * The verified user, for callers other than bound tokens: the sender of a message in a channel that admitted them, or
   * `issuer|subject` of a JWT. It is stored with turns that wait, so it must stay plain data.
   */
  readonly verifiedUserId?: string;
  /** The agents that it may use, the first by default; absent for all of them. */
  readonly agents?: readonly string[];
  /** Of a JWT with an id: what `auth deny --jti` names. */
  readonly credential?: string;
  /** Of a JWT of an issuer whose people tool servers take (`identity = "cross_app"`): the token itself, sealed for its caller. */
  readonly identityToken?: string;
  /** Of a JWT: the names of its roles in `[auth.jwt.<name>.roles]`. */
  readonly roles?: readonly string[];
  /** When the presented token expires, in Unix milliseconds; absent for an API token, whose row says it. */
  readonly expiresAtMs?: number;
  /** The channel that speaks for its users; absent for a token, whose messages come over REST. */
  readonly channel?: string;
}

/**
 * The owners whose denial or revocation ends what this caller makes: the identity or the family, and the JWT itself.
 */
export function ownersOf(caller: Pick<Caller, 'tokenId' | 'familyId' | 'credential'>): string[] {
  const family = familyOf(caller);
  return caller.credential === undefined ? [family] : [family, caller.credential];
}

/** The owner of what outlives a request: a token together with those that replace it. */
export function familyOf({ tokenId, familyId = tokenId }: Pick<Caller, 'tokenId' | 'familyId'>): string {
  return familyId;
}

/** The start of the user id of a caller whose user is not verified: only the token is known. */
const UNVERIFIED = 'token:';

/**
 * The user for whom tools act in a turn that this caller started, if the gateway can vouch for one: the user of the
 * token, the user who was verified as the caller or as the sender in a channel, or the user whom a caller with
 * `users:act_as` names. Otherwise it is only the token itself, whatever user the session names.
 */
export function actingUser(caller: Caller, sessionUserId: string): string {
  if (caller.boundUserId !== null) return caller.boundUserId;
  if (grants(caller.scopes, 'users:act_as')) return sessionUserId;
  return caller.verifiedUserId ?? `${UNVERIFIED}${caller.tokenName}`;
}

/** The user for whom tools act, with the token with which they came themselves: nobody gets that by naming them. */
export function actingAs(
  caller: Caller,
  sessionUserId: string,
): { readonly actsFor: string; readonly identityToken?: string } {
  const actsFor = actingUser(caller, sessionUserId);
  const { identityToken, tokenId } = caller;
  return identityToken === undefined || actsFor !== tokenId ? { actsFor } : { actsFor, identityToken };
}
