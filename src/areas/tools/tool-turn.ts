import type { TurnListener } from '../turns/turn.js';
import type { ToolContext } from './tool-catalog.port.js';

/** The turn in which a tool is called. */
export interface ToolTurn {
  readonly context: ToolContext;
  readonly emit: TurnListener;
  readonly signal: AbortSignal;
  /** Longest single call, in milliseconds; the wait for a person is not part of it. */
  readonly timeoutMs: number;
}
