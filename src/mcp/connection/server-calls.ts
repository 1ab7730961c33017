import { setTimeout as sleep } from 'node:timers/promises';
import type { RunTool } from '../tools/offered-tools.js';
import type { ConnectionParts } from './connection-parts.js';
import type { ConnectionState } from './connection-state.js';
import { failureWords, isAnswer, isSessionGone, McpServerDown, McpServerLost } from './mcp-failure.js';
import { McpToolFailed } from './mcp-session.js';

/** How long a call waits for a server that forgot our session, and how often it looks. */
const AGAIN_MS = 5000;
const AGAIN_LOOK_MS = 25;

/** Makes the calls to one server over whatever session it has at the moment. */
export class ServerCalls {
  constructor(
    private readonly parts: Pick<ConnectionParts, 'name' | 'redact'>,
    private readonly state: ConnectionState,
  ) {}

  /** Throws at once when the server is not connected, and in the words of `mcp-failure` for whatever goes wrong. */
  readonly call: RunTool = async (tool, args, signal) => {
    const { session } = this.state;
    const { name, redact } = this.parts;
    if (session === undefined || !this.state.isUp()) throw new McpServerDown(name);
    try {
      return await session.call(tool, args, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof McpToolFailed) throw error;
      if (isAnswer(error)) throw new Error(redact(failureWords(error)), { cause: error });
      session.giveUp(error instanceof Error ? error : new Error(String(error)));
      if (!isSessionGone(error)) throw new McpServerLost(name);
      // It knows nothing of our session, so it did nothing of what it was asked.
      return this.callAgain(tool, args, signal);
    }
  };

  private readonly callAgain: RunTool = async (tool, args, signal) => {
    const old = this.state.session;
    for (let waitedMs = 0; waitedMs < AGAIN_MS; waitedMs += AGAIN_LOOK_MS) {
      await sleep(AGAIN_LOOK_MS, undefined, { signal });
      const { session } = this.state;
      if (session !== undefined && session !== old) return session.call(tool, args, signal);
    }
    throw new McpServerDown(this.parts.name);
  };
}
