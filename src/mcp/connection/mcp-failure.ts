import {
  InsufficientScopeError,
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { sentenceOf } from '../../errors/sentence-of.js';

const MOST_SHOWN = 300;

/** The server is not connected, so the call was not made. */
export class McpServerDown extends Error {
  override readonly name = 'McpServerDown';

  constructor(server: string) {
    super(`The MCP server "${server}" is not connected at the moment.`);
  }
}

/** The connection was lost while the call ran: whether it had an effect is unknown. */
export class McpServerLost extends Error {
  override readonly name = 'McpServerLost';

  constructor(server: string) {
    super(`The MCP server "${server}" was lost while the call ran; it may or may not have had an effect.`);
  }
}

/** Whether the server knows us and refuses us: trying again changes nothing. */
export function isAuthRefusal(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof InsufficientScopeError) return true;
  if (error instanceof OAuthError) return true;
  return error instanceof SdkHttpError && (error.status === 401 || error.status === 403);
}

/** Whether a session that existed is unknown to the server: it restarted, and did nothing of what it was asked. */
export function isSessionGone(error: unknown): boolean {
  return error instanceof SdkHttpError && (error.status === 400 || error.status === 404);
}

/** Whether the server answered, if only with a refusal or too late: the connection itself is as good as before. */
export function isAnswer(error: unknown): boolean {
  if (error instanceof ProtocolError) return true;
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

/** One short line about what went wrong, with the cause that libraries hide. Not redacted. */
export function failureWords(error: unknown): string {
  const words = [sentenceOf(error)];
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) words.push(sentenceOf(cause));
  const line = words.join(': ').replaceAll(/\s+/g, ' ').trim();
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN - 1)}…` : line;
}
