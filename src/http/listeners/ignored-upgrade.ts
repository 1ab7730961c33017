import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

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
