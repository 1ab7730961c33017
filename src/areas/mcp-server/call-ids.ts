import { createHash } from 'node:crypto';
import { idFrom } from '../../common/ids/typeid.js';

/** The number that a client gave a JSON-RPC request. */
export type RequestNumber = string | number;

/** One call of a tool, as the client may name it again. */
export interface CallRef {
  readonly requestId: RequestNumber;
  readonly progressToken: RequestNumber | undefined;
}

/** An event of the stream that answers a call. */
export interface CallEvent extends CallRef {
  readonly position: number;
}

const SESSION_ID = /^[\x21-\x7e]{1,128}$/;
/** Ids and progress tokens have 256 characters, each at most six bytes of JSON. */
const EVENT_ID = /^([\w-]{1,4400})\.(\d{1,9})$/;

/** Whether the text may name an MCP session. Nobody checks which one, since it only tells calls of one caller apart. */
export function isMcpSession(text: string | undefined): text is string {
  return text !== undefined && SESSION_ID.test(text);
}

/**
 * The id of the message that a call sends, the same on every replica: so nothing about an MCP session has to be stored
 * to find the turn of a call again. With another token it leads elsewhere.
 */
export function messageIdOf(family: string, mcpSession: string, requestId: RequestNumber): string {
  const parts = JSON.stringify(['mcp', family, mcpSession, typeof requestId, requestId]);
  return idFrom('msg', createHash('sha256').update(parts).digest());
}

/** The id of an event holds everything needed to continue after it. */
export function callEventId({ requestId, progressToken, position }: CallEvent): string {
  const text = JSON.stringify([requestId, progressToken ?? null]);
  return `${Buffer.from(text).toString('base64url')}.${position}`;
}

/** Undefined for text that is not the id of an event. */
export function parseCallEventId(text: string): CallEvent | undefined {
  const [, call = '', position] = EVENT_ID.exec(text) ?? [];
  try {
    const [requestId, progressToken] = JSON.parse(Buffer.from(call, 'base64url').toString()) as unknown[];
    if (!isRequestNumber(requestId)) return undefined;
    return {
      requestId,
      progressToken: isRequestNumber(progressToken) ? progressToken : undefined,
      position: Number(position),
    };
  } catch {
    return undefined;
  }
}

export function isRequestNumber(value: unknown): value is RequestNumber {
  return typeof value === 'string' || typeof value === 'number';
}
