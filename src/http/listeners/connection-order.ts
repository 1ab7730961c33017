import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may wait for an earlier response. Each takes some kilobytes; few clients send ahead. */
const MAX_WAITING = 100;

/**
 * One request of a connection at a time. A client may send more before it has the response to the first (RFC 9112,
 * 9.3.2). Handled at once, hundreds of them would take one turn of the event loop, and everybody else would wait; so the
 * next is handled when the response before it is sent, after the other connections had their turn. A client that reads
 * nothing thereby holds up itself alone.
 */
export class ConnectionOrder {
  private readonly newest = new WeakMap<Socket, ServerResponse>();
  /** What happens when a request's turn comes. */
  private readonly waiting = new WeakMap<ServerResponse, () => void>();
  private readonly waitingOn = new WeakMap<Socket, number>();

  /** Whether one more request on this connection may wait. */
  hasRoom(socket: Socket): boolean {
    return (this.waitingOn.get(socket) ?? 0) < MAX_WAITING;
  }

  /** Handles the request when every response before it is sent, and never if the connection ends first. */
  inTurn(response: ServerResponse, handle: () => void): void {
    const { socket } = response.req;
    const before = this.newest.get(socket);
    this.newest.set(socket, response);
    if (before === undefined || before.closed) handle();
    else this.wait(socket, before, response, handle);
  }

  /** Does this when every response so far is sent: at once if none is outstanding, never if the connection ends first. */
  afterAll(socket: Socket, next: () => void): void {
    const last = this.newest.get(socket);
    if (last === undefined || last.closed) next();
    else last.once('close', AsyncResource.bind(next));
  }

  /**
   * Refuses what cannot be parsed: after every response so far, and instead of a request that will never be complete. A
   * response that has begun cannot be refused any more, so its connection ends.
   */
  refuse(socket: Socket, refuse: () => void): void {
    const last = this.newest.get(socket);
    if (last === undefined || last.closed || last.req.complete) this.afterAll(socket, refuse);
    else if (this.waiting.has(last)) this.waiting.set(last, refuse);
    else if (last.headersSent) socket.destroy();
    else refuse();
  }

  private wait(socket: Socket, before: ServerResponse, response: ServerResponse, handle: () => void): void {
    this.waiting.set(response, AsyncResource.bind(handle));
    this.waitingOn.set(socket, (this.waitingOn.get(socket) ?? 0) + 1);
    before.once('close', () => setImmediate(() => this.begin(socket, response)));
  }

  private begin(socket: Socket, response: ServerResponse): void {
    const handle = this.waiting.get(response);
    this.waiting.delete(response);
    this.waitingOn.set(socket, (this.waitingOn.get(socket) ?? 1) - 1);
    // Ended with the response before: what came after it is not answered (RFC 9112, 9.6).
    if (!socket.writable) return;
    // Of the response before.
    socket.setTimeout(0);
    handle?.();
  }
}
