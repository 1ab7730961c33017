import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProducedFile, ToolOutput } from '../../tools/tools.api.js';
import { PROMPT_CALL } from '../prompts/server-prompt.js';
import type { RunTool } from '../tools/offered-tools.js';
import { type CallContext, onBehalfOf, originOf } from './call-origin.js';
import type { ConnectionParts, ConnectionState } from './connection-state.js';
import {
  failureText,
  isAnswer,
  isSessionGone,
  McpServerDown,
  McpServerLost,
  McpToolFailed,
  McpToolWithdrawn,
  SignInNeeded,
  TaskSessionLost,
  toldFailure,
} from './mcp-failure.js';
import type { McpSession } from './mcp-session.js';
import { throughLostConnections } from './task-retries.js';

/** How long a call waits for a new session with a server that lost the old one, and how often it checks. */
const RETRY_MS = 5000;
const RETRY_POLL_MS = 25;

/** Knows whether a tool is still the one that was offered. */
export interface CurrentTools {
  /** Resolves when every announced change of the list has been processed, or the server is not connected. */
  settled(signal: AbortSignal): Promise<void>;
  isOffered(tool: string): boolean;
}

/** Makes the calls to one server over its current session. */
export class ServerCalls {
  constructor(
    private readonly parts: Pick<ConnectionParts, 'name' | 'settings' | 'redact' | 'hideKnown'>,
    private readonly state: ConnectionState,
    private readonly tools: CurrentTools,
  ) {}

  /** Throws at once when the server is not connected; every failure is one of `mcp-failure.ts` or `McpToolFailed`. */
  readonly call: RunTool = (tool, args, signal, context) =>
    withoutSecrets(this.parts, () =>
      throughLostConnections(this.parts.settings, context, signal, () =>
        onBehalfOf(originOf(context), () => this.answered(tool, args, signal, context)),
      ),
    );

  private readonly answered: RunTool = async (tool, args, signal, context) => {
    await this.tools.settled(signal);
    const { session } = this.state;
    if (session === undefined || !this.state.isUp()) throw new McpServerDown(this.parts.name);
    if (!this.isOffered(tool, context)) throw new McpToolWithdrawn(tool);
    try {
      return await session.call(tool, args, signal, context);
    } catch (error) {
      // The server does not know our session, so it did not run the call.
      if (signal.aborted || !isSessionGone(error)) throw callFailure(this.parts, error, session, signal);
      session.giveUp(asError(error));
      return this.callAgain(session, tool, args, signal, context);
    }
  };

  /** A task keeps running, even if its tool was changed or removed. */
  private isOffered(tool: string, context: CallContext | undefined): boolean {
    return tool === PROMPT_CALL || context?.call?.task !== undefined || this.tools.isOffered(tool);
  }

  private async callAgain(
    old: McpSession,
    ...[tool, args, signal, context]: Parameters<RunTool>
  ): Promise<ToolOutput> {
    for (let waitedMs = 0; waitedMs < RETRY_MS; waitedMs += RETRY_POLL_MS) {
      await sleep(RETRY_POLL_MS, undefined, { signal });
      const { session } = this.state;
      if (session === undefined || session === old) continue;
      await this.tools.settled(signal);
      if (!this.isOffered(tool, context)) throw new McpToolWithdrawn(tool);
      return session.call(tool, args, signal, context).catch((error: unknown) => {
        throw callFailure(this.parts, error, session, signal);
      });
    }
    throw new McpServerDown(this.parts.name);
  }
}

/** The error that the caller gets; gives up the session when the failure means that the connection is lost. */
export function callFailure(
  { name, redact }: Pick<ConnectionParts, 'name' | 'redact'>,
  error: unknown,
  session: McpSession,
  signal: AbortSignal,
): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof McpToolFailed || error instanceof TaskSessionLost) return error;
  if (isAnswer(error)) return new Error(toldFailure(error, redact), { cause: error });
  session.giveUp(asError(error));
  if (error instanceof SignInNeeded) return new Error(failureText(error, redact), { cause: error });
  return new McpServerLost(name, session.childFault);
}

/** The result of a tool, or the text of its failure, without known secrets. */
export async function withoutSecrets(
  { hideKnown }: Pick<ConnectionParts, 'hideKnown'>,
  answered: () => Promise<ToolOutput>,
): Promise<ToolOutput> {
  try {
    const output = await answered();
    const { files } = output;
    const shown = { ...output, content: hideKnown(output.content) };
    return files === undefined ? shown : { ...shown, files: files.map((file) => hiddenIn(file, hideKnown)) };
  } catch (error) {
    if (error instanceof McpToolFailed) throw new McpToolFailed(hideKnown(error.message));
    throw error;
  }
}

/** A text file may contain secrets, too; in other bytes they cannot be found. */
function hiddenIn(file: ProducedFile, hideKnown: (text: string) => string): ProducedFile {
  const named = { ...file, name: hideKnown(file.name) };
  return isUtf8(file.data) ? { ...named, data: Buffer.from(hideKnown(file.data.toString('utf8'))) } : named;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
