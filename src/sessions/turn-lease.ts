/** A lease that is not renewed for so long has lost its owner. Renewals come every third of it. */
export const LEASE_SECS = 15;

/** The right to run one turn of a session, until it ends or the lease runs out. */
export interface TurnLease {
  readonly sessionId: string;
  readonly turnId: string;
  readonly userMessageId: string;
  /** Larger for every turn of the session; a write with an older one changes nothing. */
  readonly fence: number;
}

/** How a turn ended that has no answer. */
export type TurnFailure = 'failed' | 'interrupted' | 'cancelled';
