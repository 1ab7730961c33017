import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import { MAX_HEADER_BYTES } from './request-stamp.js';

/** Node's two classes with Express's prototypes. */
export type ExpressClasses = Required<Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>>;

/**
 * Express replaces the prototype of every request and response, which costs more than everything else it does. Objects of
 * these classes already have it, so the replacement changes nothing. Called once per application, for all its servers.
 */
export function expressClasses(express: Express): ExpressClasses {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(ExpressRequest.prototype, express.request);
  Object.setPrototypeOf(ExpressResponse.prototype, express.response);
  express.request = ExpressRequest.prototype as unknown as Express['request'];
  express.response = ExpressResponse.prototype as unknown as Express['response'];
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/** How long a whole request may take to arrive; looked at every second. */
const ARRIVAL = { requestTimeout: 120_000, connectionsCheckingInterval: 1000 } as const;

export function createExpressServer(
  classes: ExpressClasses,
  handle: RequestListener,
  arrival: Pick<ServerOptions, 'requestTimeout' | 'connectionsCheckingInterval'> = ARRIVAL,
): Server {
  return createServer(
    {
      ...classes,
      ...arrival,
      // `stampRequest` refuses above MAX_HEADER_BYTES in the envelope; the parser only bounds memory.
      maxHeaderSize: 2 * MAX_HEADER_BYTES,
      requireHostHeader: false,
      keepAliveTimeout: 75_000,
      headersTimeout: Math.min(10_000, arrival.requestTimeout ?? 10_000),
    },
    handle,
  );
}

/** How long a caller may read nothing of a response. */
export const STALLED_MS = 30_000;

/**
 * Disconnects a caller that stops reading a complete response, which would otherwise stay in memory without limit.
 * Streams watch over their own readers until they end. Once everything is read, Node's keep-alive time-out replaces
 * this one.
 */
export function cutWhenStalled(response: ServerResponse, timeoutMs = STALLED_MS): void {
  // Emitted when the last byte has gone to the socket, whose time-out then waits for any of them to leave it.
  response.once('prefinish', () => response.setTimeout(timeoutMs));
}

/** RFC 6455, 4.1: only a GET opens a WebSocket. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.trim().toLowerCase() === 'websocket';
}

/**
 * Serves a request as if it had no `Upgrade` header (RFC 9110, 7.8). Node has detached the connection by then and read
 * nothing after the head; so the head goes back without `Upgrade`, followed by the rest, and the server accepts the
 * connection anew: body, further requests and keep-alive work as usual.
 */
export function ignoreUpgrade(server: Server, request: IncomingMessage, socket: Socket, rest: Buffer): void {
  socket.unshift(Buffer.concat([Buffer.from(headWithoutUpgrade(request), 'latin1'), rest]));
  server.emit('connection', socket);
}

function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
