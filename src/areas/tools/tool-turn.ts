import type { ApprovalVerdict } from './tool-approvals.port.js';
import type { ToolCallRecord } from './tool-call.js';
import type { ToolContext } from './tool-catalog.port.js';

/** The turn in which a tool is called. */
export interface ToolTurn {
  readonly context: ToolContext;
  readonly emit: ToolListener;
  readonly signal: AbortSignal;
  /** Longest single call, in milliseconds; the wait for a person is not part of it. */
  readonly timeoutMs: number;
}

/** A call waits for a person, or does no longer. */
export interface ToolApprovalUpdate {
  readonly approvalId: string;
  readonly callId: string;
  readonly tool: string;
  readonly status: 'pending' | ApprovalVerdict;
  /** When it counts as denied. */
  readonly expiresAt: Date;
}

/** What a spectator of a turn sees of its tools. */
export type ToolEvent =
  | {
      readonly type: 'tool_call';
      readonly id: string;
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'tool_approval'; readonly approval: ToolApprovalUpdate }
  | { readonly type: 'tool_result'; readonly record: ToolCallRecord };

/** Called for every event; a promise holds the turn back until the spectator has caught up. */
export type ToolListener = (event: ToolEvent) => void | Promise<void>;
