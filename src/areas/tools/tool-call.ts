/** `pending` is a call that the caller has still to make, with a tool of theirs. */
export type ToolCallStatus = 'success' | 'error' | 'denied' | 'timeout' | 'pending';

/** A tool call as it is kept with the answer that it helped to make. */
export interface ToolCallRecord {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly status: ToolCallStatus;
  /** Cut at 16 KiB with a mark. */
  readonly output: string;
  readonly durationMs: number;
}
