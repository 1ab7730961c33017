import type { Response } from 'express';
import type { GatewayRequest } from '../gateway-request.js';

/** Node itself drops a remainder up to this size, and the connection serves the next request. */
const SMALL_BYTES = 65_536;
/** How long the remainder of an unwanted body is read and dropped before the connection ends. */
const LINGER_MS = 5000;

/** Whether an unread body is still arriving and too large to wait for. */
export function isUnwantedBodyComing(request: GatewayRequest, response: Response): boolean {
  const isSmall = Number(request.headers['content-length']) <= SMALL_BYTES;
  return !request.complete && !(isSmall && response.shouldKeepAlive);
}

/**
 * Responds to a request whose unread body is still arriving. The response leaves at once; then the rest of the body is
 * read and dropped for a while, because closing a connection while the other side still sends resets it and may lose the
 * response (RFC 9112, 9.6). Then the connection ends.
 */
export function answerBeforeBodyEnds(request: GatewayRequest, response: Response, body: object): void {
  const text = JSON.stringify(body);
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.write(text);
  const timer = setTimeout(finish, LINGER_MS).unref();
  function finish(): void {
    clearTimeout(timer);
    response.end();
  }
  request.once('end', finish);
  request.once('close', finish);
  request.resume();
}
