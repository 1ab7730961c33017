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

/** The request was not made: a key or a token of the gateway's own cannot be read from its file, which may change while it runs. */
export class CredentialsUnreadable extends Error {
  override readonly name = 'CredentialsUnreadable';
}

/** The request was not made: nobody is signed in to the server (docs/mcp.md, Sign-in with a browser). */
export class SignInNeeded extends Error {
  override readonly name = 'SignInNeeded';

  /** @param problem what became of the last sign-in, in words that fit after a colon */
  constructor(server: string, problem?: string) {
    const reason = problem === undefined ? 'nobody has signed in to it yet' : `signed in no more: ${problem}`;
    super(`${reason}. An operator signs in with: agent-gateway mcp sign-in ${server}`);
  }
}

/** The request was not made: the tokens of the sign-in cannot be had at the moment. */
export class TokensUnavailable extends Error {
  override readonly name = 'TokensUnavailable';

  constructor(cause: unknown) {
    super(`The gateway cannot get a token for the server at the moment: ${sentenceOf(cause)}`);
  }
}

/** The server refused the request and its token; another one cannot be had, or would be refused as well. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';

  constructor(server: string) {
    super(
      `The server refuses the token of the sign-in. If it goes on to, an operator signs in again with: agent-gateway mcp sign-in ${server}`,
    );
  }
}

/** The server refused the request twice: it wants another nonce of its own each time (RFC 9449, 9). */
export class ProofRefused extends Error {
  override readonly name = 'ProofRefused';

  constructor(origin: string) {
    super(
      `${origin} wants another nonce in the proof of the token each time it is asked (DPoP), so the request was given up`,
    );
  }
}

/** The server refused the request: whoever signed in to it did not grant enough. */
export class MoreScopeNeeded extends Error {
  override readonly name = 'MoreScopeNeeded';

  /**
   * @param scope undefined when the server does not say
   * @param isFixed whether the settings say for which scopes the gateway asks
   */
  constructor(server: string, scope: string | undefined, isFixed: boolean) {
    const which = scope === undefined ? 'it does not say which' : `scope ${scope.slice(0, 200)}`;
    const first = isFixed ? 'adds them to its oauth_scope, and ' : '';
    super(
      `The server wants more rights for this (${which}). An operator ${first}grants them with: agent-gateway mcp sign-in ${server}`,
    );
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

/**
 * Another connection, in which the gateway asked about a task, was lost; the connection to the server is not affected.
 */
export class TaskSessionLost extends Error {
  override readonly name = 'TaskSessionLost';

  constructor(cause: unknown) {
    super('The session to which the task belongs was lost.', { cause });
  }
}

/** A tool ran and reported that it failed. */
export class McpToolFailed extends Error {
  override readonly name = 'McpToolFailed';
}

/** The text for a call whose task its server does not know: expired, lost, or from a session that no longer exists. */
export const TASK_UNKNOWN =
  'Outcome unknown: the server does not know the task that ran this call any more. It may have taken effect or not, and it was not ' +
  'made again. Find out before you repeat it.';

/** The text for a task about which its server, although it responds, answers only with failures. */
export const TASK_UNANSWERED =
  'Outcome unknown: the server fails to say what became of the task that ran this call. It may have taken effect or not, and it was ' +
  'not made again. Find out before you repeat it.';

/** The text for a task in a child process that ended together with the gateway. */
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
 * Whether retrying is pointless: the server refuses our credentials, or may not be started without a sandbox. A refused
 * proof of `identity` does not count: the server fetches our keys itself, and may not have reached them. Nor does a token that the
 * platform's stands behind: the platform renews that.
 */
export function isFinal(
  error: unknown,
  { identity, oauth_sign_in: signsIn, oauth_workload_token_file: file }: TokenSource = NO_PROOF,
): boolean {
  if (error instanceof SandboxMissing || error instanceof SignInNeeded) return true;
  if (error instanceof MoreScopeNeeded) return true;
  if (identity !== 'none' || signsIn || file !== '') return false;
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

/**
 * The error that a server sent with an HTTP error status, in answer to the request itself; undefined for anything else.
 */
export function refusalInBody(error: unknown): ProtocolError | undefined {
  if (!(error instanceof SdkHttpError)) return undefined;
  const { text } = error.data;
  const parsed = REFUSAL.safeParse(typeof text === 'string' ? parsedJson(text) : undefined);
  return parsed.success ? new ProtocolError(parsed.data.error.code, parsed.data.error.message) : undefined;
}

/** A server that does not know our session answers without the id of the request. */
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
  if (NOT_MADE.some((kind) => error instanceof kind)) return true;
  if (!(error instanceof SdkError) || error instanceof SdkHttpError) return false;
  return error.code === SdkErrorCode.RequestTimeout || ANSWERED.has(error.code);
}

/** Whether the gateway had nothing to show to the server at that moment, which says nothing about the server. */
export function hadNoToken(error: unknown): boolean {
  return [TokensUnavailable, CredentialsUnreadable, IdentityFailed].some((kind) => error instanceof kind);
}

/** The server had no part in it, or refused this one. */
const NOT_MADE = [
  ...[IdentityFailed, CredentialsUnreadable, TokensUnavailable, TokenRefused, MoreScopeNeeded],
  ProofRefused,
];

type TokenSource = Pick<McpServerSettings, 'identity' | 'oauth_sign_in' | 'oauth_workload_token_file'>;

const NO_PROOF = { identity: 'none', oauth_sign_in: false, oauth_workload_token_file: '' } as const;

const ANSWERED: ReadonlySet<SdkErrorCode> = new Set([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.InputRequiredRoundsExceeded,
  SdkErrorCode.CapabilityNotSupported,
  SdkErrorCode.MethodNotSupportedByProtocolVersion,
]);

/** One line of at most 300 characters about what went wrong, with the cause that libraries hide. Redacted before it is cut. */
export function failureText(error: unknown, redact: (text: string) => string): string {
  const own = notMadeIn(error);
  const cause = own === undefined && error instanceof Error ? error.cause : undefined;
  const sentences = [sentenceOf(own ?? error), ...(cause instanceof Error ? [sentenceOf(cause)] : [])];
  const line = redact(sentences.join(': ')).replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN - 1)}…` : line;
}

/** The same for callers, who are not told where the gateway keeps its credentials. */
export function toldFailure(error: unknown, redact: (text: string) => string): string {
  if (!(notMadeIn(error) instanceof CredentialsUnreadable)) return failureText(error, redact);
  return "the gateway's credentials for it cannot be read; the log of the gateway says why";
}

/** Why the request was not made, where a library put that into words of its own. */
function notMadeIn(error: unknown): Error | undefined {
  const near = [error, error instanceof Error ? error.cause : undefined];
  return near.find((one): one is Error => NOT_MADE.some((kind) => one instanceof kind));
}
