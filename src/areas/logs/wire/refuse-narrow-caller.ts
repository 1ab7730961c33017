import { Forbidden } from '../../../common/errors/gateway-error.js';
import { refuseSomeAgents } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';

/** Throws `Forbidden` for a token of one user or of some agents: log lines are about every session. */
export function refuseNarrowCaller(caller: Caller): void {
  refuseSomeAgents('logs speak', caller);
  if (caller.boundUserId === null) return;
  throw new Forbidden('This token sees one user only, and logs speak of all of them.', {
    details: { reason: 'token_bound_to_user' },
  });
}
