/** `pending`: the caller still has to make the call, with its own tool. */
export type ToolCallStatus = 'success' | 'error' | 'denied' | 'timeout' | 'pending';

/** A tool call as it is stored with the answer that it contributed to. */
export interface ToolCallRecord {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly status: ToolCallStatus;
  /** Cut at 16 KiB with a mark. */
  readonly output: string;
  readonly durationMs: number;
}
