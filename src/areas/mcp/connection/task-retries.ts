import { setTimeout as sleep } from 'node:timers/promises';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { ToolOutput } from '../../tools/tools.api.js';
import type { CallContext } from './call-origin.js';
import { McpConnectionFailed, McpServerDown, McpServerLost, TaskSessionLost } from './mcp-failure.js';

/** How long after a lost connection a task is asked for again. */
const PAUSE_MS = 1000;

/**
 * A call that its server runs as a task outlives its connection: the next connection asks for it again, until the
 * call's time is over. Any other call is made once. When a child process ended, its tasks ended with it.
 * @param ask makes the call, or asks for its task when that is stored
 */
export async function throughLostConnections(
  { transport }: Pick<McpServerSettings, 'transport'>,
  context: CallContext | undefined,
  signal: AbortSignal,
  ask: () => Promise<ToolOutput>,
): Promise<ToolOutput> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isTask = transport !== 'stdio' && context?.call?.task !== undefined;
      if (!isTask || signal.aborted || !isLoss(error)) throw error;
    }
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/** Whether nobody answered: anything the server says is an answer, also a refusal. */
function isLoss(error: unknown): boolean {
  return LOSSES.some((loss) => error instanceof loss);
}

const LOSSES = [McpServerLost, McpServerDown, McpConnectionFailed, TaskSessionLost];
