import {
  InsufficientScopeError,
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
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
  constructor(server: string, why: string | undefined) {
    const reason = why === undefined ? '' : ` (${why})`;
    super(
      `The MCP server "${server}" was lost while the call ran${reason}; it may or may not have had an effect.`,
    );
  }
}

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
