import type { Caller } from '../../platform/tokens/caller.js';
import type { ToolContext } from './tool-catalog.port.js';

/** A call that waits for a person. */
export interface ApprovalQuestion {
  /**
   * Requested once for each call of a turn, however often the turn is taken up; undefined for a call without a turn.
   */
  readonly turnId: string | undefined;
  /** As the model numbered the call. */
  readonly callId: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly context: ToolContext;
  /** How long to wait, in milliseconds. */
  readonly timeoutMs: number;
  /** Called once, when a person can decide. */
  onOpen?(id: string, expiresAt: Date): void;
}

export type ApprovalVerdict = 'allowed' | 'denied' | 'timeout';

/** A person's decision. */
export interface ApprovalAnswer {
  readonly verdict: 'allowed' | 'denied';
  /** Kept in the audit. */
  readonly by: string;
  /** The reason, for people who look at the decision. */
  readonly reason?: string | undefined;
}

/** Why a turn stops on this replica and continues on another: its approvals stay open. */
export interface TurnPause {
  readonly goesOn: true;
}

/** Who sent the message that made a call. */
export type Asker = Pick<Caller, 'tokenId' | 'familyId' | 'boundUserId' | 'verifiedUserId'>;

/** A question that is open now. */
export interface OpenApproval {
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly sessionId: string;
  readonly channel: string;
  readonly userId: string;
  /** The name of the token whose message made the call; null when it is not known. */
  readonly askedBy: string | null;
  /** Null when it is not known. */
  readonly asker: Asker | null;
  readonly askedAt: Date;
  readonly expiresAt: Date;
}

/** Asks people whether a call may run, wherever they are: on a command line, or beside the session's stream. */
export abstract class ToolApprovals {
  /**
   * Waits for a decision from any replica. Throws the signal's reason when the turn is aborted; unless that is a
   * `TurnPause`, the approval is withdrawn.
   */
  abstract ask(question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalVerdict>;

  /** The open approvals, oldest first, at most 100; of one session when given. */
  abstract open(sessionId?: string): Promise<readonly OpenApproval[]>;

  /** @returns whether the approval was open; the first decision counts */
  abstract answer(id: string, answer: ApprovalAnswer): Promise<boolean>;

  /** Called for every decision that was made through this process. */
  abstract onAnswer(listener: () => void): void;
}
