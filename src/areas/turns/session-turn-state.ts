import type { RowOfStatement } from '../../platform/database/statement.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { Caller } from '../../platform/tokens/caller.js';
import type { LIMIT_USAGE } from './limits/spending.sql.js';
import { spentBudget, type TurnAllowance, turnsTaken } from './limits/turn-allowance.js';
import type { TurnLimitReached } from './limits/turn-limit-reached.js';

/** The state of a session for a caller that wants a turn of it. */
export type SessionTurnState = RowOfStatement<typeof LIMIT_USAGE>;

export interface QueueLimits {
  readonly timeoutSecs: number;
  readonly allowance: TurnAllowance;
  readonly limits: GatewaySettings['limits'];
  readonly maxWaiting: number;
  /** The sender's token: the message ends with it. */
  readonly caller: Caller;
  /** An accepted message waits as long as necessary, and any replica may answer it. */
  readonly isAccepted: boolean;
}

/** Why a message may not line up; the first reason that applies counts. */
export type QueueRefusal = 'not_found' | 'ended' | 'full' | 'awaiting_approval' | TurnLimitReached;

/**
 * Undefined when it may. A message to a free session waits for nothing, so it may not wait for turns of its API token
 * either.
 */
export function refusalOf(
  session: SessionTurnState | undefined,
  { allowance, limits, maxWaiting }: QueueLimits,
): QueueRefusal | undefined {
  if (session === undefined) return 'not_found';
  if (session.ended) return 'ended';
  const limit = spentBudget(session, allowance, limits);
  if (limit !== undefined) return limit;
  const isFree = !session.busy && session.waiting === 0;
  const taken = isFree ? turnsTaken(session, allowance) : undefined;
  if (taken !== undefined) return taken;
  if (session.waiting < maxWaiting) return undefined;
  return session.awaits_approval ? 'awaiting_approval' : 'full';
}
