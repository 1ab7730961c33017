import { Forbidden } from '../../common/errors/gateway-error.js';
import type { Caller } from './caller.js';
import { grants } from './scopes.js';

/** `issuer|subject` of the company's identity provider, and `token:<name>` for callers whose user is not verified. */
const RESERVED = /\||^token:/;

/** A caller named a user whom only the gateway, or a caller with `users:act_as`, may name. */
class ReservedUserId extends Forbidden {
  constructor() {
    super(
      'A user_id with "|" or beginning with "token:" names somebody whom the gateway verified. Leave it out, send another, or use a token with the scope "users:act_as".',
      { details: { reason: 'reserved_user_id' } },
    );
  }
}

/**
 * Throws `ReservedUserId` when a caller without `users:act_as` names a verified identity other than its own. Call it
 * first wherever a caller gives a user id.
 */
export function refuseForeignUserId(userId: string | undefined, caller: Caller): void {
  if (userId === undefined || !RESERVED.test(userId) || userId === caller.boundUserId) return;
  if (userId === caller.verifiedUserId && caller.channel === undefined) return;
  if (!grants(caller.scopes, 'users:act_as')) throw new ReservedUserId();
}

/**
 * The user id for a sender on a platform. No sender can pass for a user whom the gateway verified: `|` and a leading
 * `token:` are escaped as in a URL.
 */
export function senderUserId(sender: string): string {
  return sender.replaceAll('|', '%7C').replace(/^token:/, 'token%3A');
}
