import { Forbidden } from '../../../common/errors/gateway-error.js';
import type { Caller } from '../../../platform/tokens/caller.js';

/** Log lines speak of every user's sessions: a token that sees one user's only must not read them. Throws `Forbidden`. */
export function refuseBoundCaller(caller: Caller): void {
  if (caller.boundUserId === null) return;
  throw new Forbidden('This token sees one user only, and logs speak of all of them.', {
    details: { reason: 'token_bound_to_user' },
  });
}
