import type { ModelToolCall } from '../models/models.api.js';
import type { QuestionStatus, ToolQuestion } from './questions/tool-question.js';
import type { ApprovalVerdict } from './tool-approvals.port.js';
import type { ToolCallRecord } from './tool-call.js';
import type { CallProgress, CallTask, ToolContext, ToolSampled, ToolSampling } from './tool-catalog.port.js';

/** The turn in which a tool is called. */
export interface ToolTurn {
  readonly context: ToolContext;
  readonly emit: ToolListener;
  readonly signal: AbortSignal;
  /** Longest single call, in milliseconds; the wait for a person does not count. */
  readonly timeoutMs: number;
  /** Absent for a call without a turn: no replica takes it up. */
  readonly turnId?: string;
  /** Notified while one of its calls waits for a person. */
  readonly waits?: ApprovalWaiting | undefined;
  /** Asks the model for a tool; absent where no turn pays for it. */
  sample?(question: ToolSampling, signal: AbortSignal): Promise<ToolSampled>;
  /** Called before a call is made that may have an effect. Throws when this replica no longer holds the turn. */
  onSend?(call: ModelToolCall): Promise<void> | undefined;
  /** The task that ran the call on the replica that made it. */
  readonly task?: CallTask;
  /** Called before a task is waited for; absent where no replica would ask for it again. Throws like `onSend`. */
  onTask?(call: ModelToolCall, task: CallTask): Promise<void>;
}

/** Wants to know which approvals of a turn are open. */
export interface ApprovalWaiting {
  /** @returns a function that ends the wait */
  begin(approvalId: string): () => void;
}

/** A call waits for a person, or no longer does. */
export interface ToolApprovalUpdate {
  readonly approvalId: string;
  readonly callId: string;
  readonly tool: string;
  readonly status: 'pending' | ApprovalVerdict;
  /** When it counts as denied. */
  readonly expiresAt: Date;
}

/** A tool asks people something, or no longer does. */
export interface ToolQuestionUpdate extends Omit<ToolQuestion, 'timeoutMs'> {
  readonly questionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly status: QuestionStatus | 'timeout';
  /** When it counts as declined. */
  readonly expiresAt: Date;
}

/** What a viewer of a turn sees of its tools. */
export type ToolEvent =
  | {
      readonly type: 'tool_call';
      readonly id: string;
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'tool_approval'; readonly approval: ToolApprovalUpdate }
  | { readonly type: 'tool_question'; readonly question: ToolQuestionUpdate }
  | {
      readonly type: 'tool_progress';
      readonly callId: string;
      readonly tool: string;
      readonly progress: CallProgress;
    }
  | { readonly type: 'tool_result'; readonly record: ToolCallRecord };

/** Called for every event; a promise makes the turn wait until the viewer has caught up. */
export type ToolListener = (event: ToolEvent) => void | Promise<void>;
