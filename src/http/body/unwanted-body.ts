import type { Response } from 'express';
import type { GatewayRequest } from '../gateway-request.js';

/** A rest of so many bytes is dropped by Node itself, and the connection serves the next request. */
const SMALL_BYTES = 65_536;
/** How long the rest of an unwanted body is thrown away before the connection ends regardless. */
const LINGER_MS = 5000;

/** Whether a body that nobody will read is still on its way, and too long to be waited for. */
export function isUnwantedBodyComing(request: GatewayRequest, response: Response): boolean {
  const isSmall = Number(request.headers['content-length']) <= SMALL_BYTES;
  return !request.complete && !(isSmall && response.shouldKeepAlive);
}

/**
 * Answers a request whose body is still on its way and that nobody will read. The answer leaves at once; the rest of
 * the body is read and dropped for a while, because a connection that is closed while the other side still sends is
 * reset, and the answer may be lost with it (RFC 9112, 9.6). Then the connection ends.
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
