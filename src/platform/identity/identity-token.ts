import type { SecretBox } from '../secrets/secret-box.js';

/**
 * The token with which a person came, for tool servers with `identity = "cross_app"`. It travels with the caller, also in rows of turns
 * that wait or change their replica, so it is sealed, for this person alone. It is not sealed again when the master key changes: it
 * lives for hours at most.
 */
export function sealIdentityToken(box: SecretBox, identity: string, token: string): string {
  return box.seal(token, contextOf(identity));
}

/** Throws `CannotOpen`, also for the token of anybody else. */
export function openIdentityToken(box: SecretBox, identity: string, sealed: string): string {
  return box.open(sealed, contextOf(identity));
}

const contextOf = (identity: string): string => `identity-token:${identity}`;
