import { setTimeout as sleep } from 'node:timers/promises';
import type { RunTool } from '../tools/offered-tools.js';
import type { ConnectionParts } from './connection-parts.js';
import type { ConnectionState } from './connection-state.js';
import {
  failureText,
  isAnswer,
  isSessionGone,
  McpServerDown,
  McpServerLost,
  McpToolWithdrawn,
} from './mcp-failure.js';
import { type McpSession, McpToolFailed } from './mcp-session.js';

/** How long a call waits for a server that forgot our session, and how often it looks. */
const RETRY_MS = 5000;
const RETRY_POLL_MS = 25;

/** Says whether a tool is still the one that was offered. */
export interface CurrentTools {
  /** Resolves when no change of the list that was told waits to be looked at, or the server is not connected. */
  settled(signal: AbortSignal): Promise<void>;
  isOffered(tool: string): boolean;
}

/** Makes the calls to one server over whatever session it has at the moment. */
export class ServerCalls {
  constructor(
    private readonly parts: Pick<ConnectionParts, 'name' | 'redact' | 'hideKnown'>,
    private readonly state: ConnectionState,
    /** What is known of the tools of the server. */
    private readonly tools: CurrentTools,
  ) {}

  /** Throws at once when the server is not connected, and in the words of `mcp-failure` for whatever goes wrong. */
  readonly call: RunTool = async (tool, args, signal) => {
    const { hideKnown } = this.parts;
    try {
      return hideKnown(await this.answered(tool, args, signal));
    } catch (error) {
      if (error instanceof McpToolFailed) throw new McpToolFailed(hideKnown(error.message));
      throw error;
    }
  };

  private readonly answered: RunTool = async (tool, args, signal) => {
    await this.tools.settled(signal);
    const { session } = this.state;
    if (session === undefined || !this.state.isUp()) throw new McpServerDown(this.parts.name);
    if (!this.tools.isOffered(tool)) throw new McpToolWithdrawn(tool);
    try {
      return await session.call(tool, args, signal);
    } catch (error) {
      // It knows nothing of our session, so it did nothing of what it was asked.
      if (signal.aborted || !isSessionGone(error)) throw this.failure(error, session, signal);
      session.giveUp(asError(error));
      return this.callAgain(session, tool, args, signal);
    }
  };

  private async callAgain(old: McpSession, ...[tool, args, signal]: Parameters<RunTool>): Promise<string> {
    for (let waitedMs = 0; waitedMs < RETRY_MS; waitedMs += RETRY_POLL_MS) {
      await sleep(RETRY_POLL_MS, undefined, { signal });
      const { session } = this.state;
      if (session === undefined || session === old) continue;
      await this.tools.settled(signal);
      if (!this.tools.isOffered(tool)) throw new McpToolWithdrawn(tool);
      return session.call(tool, args, signal).catch((error: unknown) => {
        throw this.failure(error, session, signal);
      });
    }
    throw new McpServerDown(this.parts.name);
  }

  /** What the caller is told of a call that failed; a connection that is lost by it is given up. */
  private failure(error: unknown, session: McpSession, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof McpToolFailed) return error;
    if (isAnswer(error)) return new Error(this.parts.redact(failureText(error)), { cause: error });
    session.giveUp(asError(error));
    return new McpServerLost(this.parts.name);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
