import type { Caller } from './caller.js';
import { grants } from './scopes.js';

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
