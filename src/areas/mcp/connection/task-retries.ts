import { setTimeout as sleep } from 'node:timers/promises';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { ToolOutput } from '../../tools/tools.api.js';
import type { CallContext } from './call-origin.js';
import {
  isSessionGone,
  McpConnectionFailed,
  McpServerDown,
  McpServerLost,
  McpToolFailed,
  TASK_UNKNOWN,
} from './mcp-failure.js';

/** How long after a lost connection a task is asked for again. */
const PAUSE_MS = 1000;
/** A server that so soon again knows no session speaks of the task: new sessions are made in between. */
const SOON_MS = 10_000;

/**
 * A call that its server runs as a task outlives its connection: it is asked for again over the next one, until the call's
 * time is over. Any other call is made once. A child that ended took its tasks with it.
 * @param ask makes the call, or asks for its task when that is stored
 */
export async function throughLostConnections(
  { transport }: Pick<McpServerSettings, 'transport'>,
  context: CallContext | undefined,
  signal: AbortSignal,
  ask: () => Promise<ToolOutput>,
): Promise<ToolOutput> {
  let goneAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isTask = transport !== 'stdio' && context?.call?.task !== undefined;
      if (!isTask || signal.aborted || !isLoss(error)) throw error;
      const isGone = isSessionGone(error.cause);
      if (isGone && performance.now() - goneAt < SOON_MS) throw new McpToolFailed(TASK_UNKNOWN);
      if (isGone) goneAt = performance.now();
    }
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/** Whether nobody answered: what the server says, also that it refuses, is an answer. */
function isLoss(error: unknown): error is Error {
  return (
    error instanceof McpServerLost || error instanceof McpServerDown || error instanceof McpConnectionFailed
  );
}
