import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may wait for an earlier response. Each takes some kilobytes; few clients send ahead. */
const MAX_WAITING = 100;
/** Bytes of their bodies together. */
const MAX_WAITING_BYTES = 262_144;

interface Waiting {
  readonly requests: number;
  readonly bytes: number;
}

const NONE: Waiting = { requests: 0, bytes: 0 };

/**
 * One request of a connection at a time. A client may send more before it has the response to the first (RFC 9112,
 * 9.3.2). Handled at once, hundreds of them would take one turn of the event loop, and everybody else would wait; so the
 * next is handled when the response before it is sent, and of all that were sent ahead one begins in a turn of the event
 * loop, however many connections do so. A client that reads nothing thereby holds up itself alone.
 */
export class ConnectionOrder {
  private readonly newest = new WeakMap<Socket, ServerResponse>();
  /** What happens when a request's turn comes. */
  private readonly waiting = new WeakMap<ServerResponse, () => void>();
  private readonly waitingOn = new WeakMap<Socket, Waiting>();
  /** Begins what was sent ahead, of all connections whose response before it is sent; one of each at most. */
  private readonly due: (() => void)[] = [];

  /** Whether this request may wait for those before it on its connection; one that need not wait may always come. */
  hasRoom(request: IncomingMessage): boolean {
    const { socket } = request;
    const before = this.newest.get(socket);
    if (before === undefined || before.closed) return true;
    const { requests, bytes } = this.waitingOn.get(socket) ?? NONE;
    return requests < MAX_WAITING && bytes + readAhead(request) <= MAX_WAITING_BYTES;
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

  private count({ req }: ServerResponse, sign: 1 | -1): void {
    const { requests, bytes } = this.waitingOn.get(req.socket) ?? NONE;
    this.waitingOn.set(req.socket, { requests: requests + sign, bytes: bytes + sign * readAhead(req) });
  }

  private wait(socket: Socket, before: ServerResponse, response: ServerResponse, handle: () => void): void {
    this.waiting.set(response, AsyncResource.bind(handle));
    this.count(response, 1);
    before.once('close', () => {
      // All of a connection that has ended close at once, and take no turns from others.
      if (!socket.writable) this.begin(socket, response);
      else if (this.due.push(() => this.begin(socket, response)) === 1) setImmediate(this.beginNext);
    });
  }

  private readonly beginNext = (): void => {
    const begin = this.due.shift();
    if (this.due.length > 0) setImmediate(this.beginNext);
    begin?.();
  };

  private begin(socket: Socket, response: ServerResponse): void {
    const handle = this.waiting.get(response);
    this.waiting.delete(response);
    this.count(response, -1);
    // Ended with the response before: what came after it is not answered (RFC 9112, 9.6).
    if (!socket.writable) return;
    // Of the response before.
    socket.setTimeout(0);
    handle?.();
  }
}

/** How much of its body may be in memory before it is handled; Node then stops to read the connection. */
function readAhead({ headers, readableHighWaterMark: most }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return most;
  return Math.min(most, Number(headers['content-length'] ?? 0));
}
