import { Forbidden } from '../../../common/errors/gateway-error.js';
import type { Caller } from '../../../platform/tokens/caller.js';

/** Throws `Forbidden` for a token bound to one user: log lines are about every user's sessions. */
export function refuseBoundCaller(caller: Caller): void {
  if (caller.boundUserId === null) return;
  throw new Forbidden('This token sees one user only, and logs speak of all of them.', {
    details: { reason: 'token_bound_to_user' },
  });
}
