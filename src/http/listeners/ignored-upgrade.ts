import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** RFC 6455, 4.1: only a GET opens a WebSocket. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.trim().toLowerCase() === 'websocket';
}

/**
 * Has a request served as if it had not asked for another protocol (RFC 9110, 7.8). Node has let go of the connection by
 * then and has read nothing behind the head; so the head goes back without its `Upgrade`, before what followed it, and the
 * server takes the connection up once more: body, further requests and keep-alive are what they would have been.
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
