import type { StoredError } from '../../common/errors/gateway-error.js';
import { bigint, type ParamsOf, text } from '../../platform/database/sql-types.js';
import type { ReplicaId } from '../../platform/lifecycle/replica-id.js';

/** A lease that is not renewed for this long has lost its owner. Renewals come every third of it. */
export const LEASE_SECS = 8;

/** The right to run one turn of a session, until it ends or the lease expires. */
export interface TurnLease {
  readonly sessionId: string;
  readonly turnId: string;
  readonly userMessageId: string;
  /** Grows with every turn of the session; a write with an older one changes nothing. */
  readonly fence: number;
}

/** The same as parameters, with the turn. */
export function leaseParams(
  { sessionId, fence, turnId }: Omit<TurnLease, 'userMessageId'>,
  replica: ReplicaId,
): ParamsOf<typeof LEASE_PARAMS> & { readonly turn: string } {
  return { session: sessionId, fence, turn: turnId, replica: replica.value };
}

/** The condition that the replica still holds a turn's lease, for its statements. */
export const LEASE_PARAMS = { session: text, fence: bigint, replica: text };
/** The same for the session's row: a replica that lost the lease changes nothing. */
export const HELD_LEASE = 'id = :session AND turn_fence = :fence AND turn_owner = :replica';

/** How a turn ended that has no whole answer. */
export type TurnFailure = 'failed' | 'interrupted' | 'cancelled';

export interface TurnEnding {
  readonly how: TurnFailure;
  /** A fixed word, such as `provider_idle_timeout`. */
  readonly reason: string;
  /** What the caller was told. */
  readonly error: StoredError;
}

/** The note in the history in place of an answer that was interrupted before it had begun, or with its replica. */
export const INTERRUPTED_NOTE =
  'The answer was interrupted: the gateway could not finish it. Send the message again if it is still needed.';

/** The note for a turn that waited for a person when its session was ended. */
export const ENDED_NOTE = 'This message was not answered: the session was ended first.';
