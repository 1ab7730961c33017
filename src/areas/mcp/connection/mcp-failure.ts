import {
  InsufficientScopeError,
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { sentenceOf } from '../../../common/errors/error-text.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { SandboxMissing } from '../sandbox/sandbox.service.js';

const MAX_SHOWN = 300;

/** The call was not made because the server is not connected. */
export class McpServerDown extends Error {
  override readonly name = 'McpServerDown';

  constructor(server: string) {
    super(`The MCP server "${server}" is not connected at the moment.`);
  }
}

/** The call was not made: its user has no connection to the server, and cannot get one now. */
export class McpConnectionFailed extends Error {
  override readonly name = 'McpConnectionFailed';

  /** @param retryInMs when the next attempt may be made */
  constructor(server: string, reason: string, retryInMs?: number) {
    const next =
      retryInMs === undefined ? '' : ` The next attempt can be made in ${Math.ceil(retryInMs / 1000)} s.`;
    super(`The MCP server "${server}" cannot be connected to for this user: ${reason}.${next}`);
  }
}

/** The request was not made: the gateway could not prove for whom it acts. */
export class IdentityFailed extends Error {
  override readonly name = 'IdentityFailed';

  constructor(reason: string) {
    super(`The gateway could not prove to the server for whom it acts: ${reason}`);
  }
}

/** The connection was lost during the call: whether it had an effect is unknown. */
export class McpServerLost extends Error {
  override readonly name = 'McpServerLost';

  /** @param why what ended it, if that is known, such as `it exited with code 1` */
  constructor(server: string, why: string | undefined, cause?: unknown) {
    const reason = why === undefined ? '' : ` (${why})`;
    super(
      `The MCP server "${server}" was lost while the call ran${reason}; it may or may not have had an effect.`,
      { cause },
    );
  }
}

/** A tool ran and reported that it failed. */
export class McpToolFailed extends Error {
  override readonly name = 'McpToolFailed';
}

/** What is said of a call whose task its server does not know: expired, lost, or of a session that is no more. */
export const TASK_UNKNOWN =
  'Outcome unknown: the server does not know the task that ran this call any more. It may have taken effect or not, and it was not ' +
  'made again. Find out before you repeat it.';

/** And of one that a child ran which ended with the gateway. */
export const TASK_OF_CHILD_LOST =
  'Outcome unknown: the server ran this call as a task, and its process ended when the gateway was interrupted. It may have taken ' +
  'effect or not, and it was not made again. Find out before you repeat it.';

/** The call was not made because the tool was changed or removed after the model had seen it. */
export class McpToolWithdrawn extends Error {
  override readonly name = 'McpToolWithdrawn';

  constructor(tool: string) {
    super(`The tool "${tool.slice(0, 64)}" has changed since it was offered, so it was not run.`);
  }
}

/** The tool ran, and its result does not match its output schema. */
export class McpOutputInvalid extends Error {
  override readonly name = 'McpOutputInvalid';

  constructor(problem: string) {
    super(`The structured content does not match the output schema of the tool: ${problem}`);
  }
}

/**
 * Whether retrying is pointless: the server refuses our credentials, or may not be started without a sandbox. What it says
 * of a proof of `identity` is not: it fetches our keys itself, and may not have reached them.
 */
export function isFinal(error: unknown, identity: McpServerSettings['identity'] = 'none'): boolean {
  if (error instanceof SandboxMissing) return true;
  if (identity !== 'none') return false;
  if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) return true;
  if (error instanceof OAuthError) return true;
  return error instanceof SdkHttpError && (error.status === 401 || error.status === 403);
}

/** Whether the server did not answer a request in time. */
export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

/** Whether the server no longer knows our session: it has restarted and did not run the call. */
export function isSessionGone(error: unknown): boolean {
  return error instanceof SdkHttpError && (error.status === 400 || error.status === 404);
}

/** The error that a server sent with an HTTP status of failure, in answer to the request itself; undefined for any other. */
export function refusalInBody(error: unknown): ProtocolError | undefined {
  if (!(error instanceof SdkHttpError)) return undefined;
  const { text } = error.data;
  const parsed = REFUSAL.safeParse(typeof text === 'string' ? parsedJson(text) : undefined);
  return parsed.success ? new ProtocolError(parsed.data.error.code, parsed.data.error.message) : undefined;
}

/** Of a session that it does not know, a server speaks without the id of the request. */
const REFUSAL = z.object({
  id: z.union([z.string(), z.number()]),
  error: z.object({ code: z.number(), message: z.string() }),
});

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the server answered, even if with a refusal or too late, so that the connection itself is fine. */
export function isAnswer(error: unknown): boolean {
  if (error instanceof ProtocolError || error instanceof McpOutputInvalid) return true;
  if (error instanceof IdentityFailed) return true;
  if (!(error instanceof SdkError) || error instanceof SdkHttpError) return false;
  return error.code === SdkErrorCode.RequestTimeout || ANSWERED.has(error.code);
}

const ANSWERED: ReadonlySet<SdkErrorCode> = new Set([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.InputRequiredRoundsExceeded,
  SdkErrorCode.CapabilityNotSupported,
  SdkErrorCode.MethodNotSupportedByProtocolVersion,
]);

/** One line of at most 300 characters about what went wrong, with the cause that libraries hide. Not redacted. */
export function failureText(error: unknown): string {
  const sentences = [sentenceOf(error)];
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) sentences.push(sentenceOf(cause));
  const line = sentences.join(': ').replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN - 1)}…` : line;
}
