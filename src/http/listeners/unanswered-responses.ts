import type { Socket } from 'node:net';
import type { Response } from 'express';

/** Responses that are not sent to their last byte, by connection. */
export class UnansweredResponses {
  private readonly bySocket = new Map<Socket, Set<Response>>();

  add(response: Response): void {
    const { socket } = response.req;
    const known = this.bySocket.get(socket);
    if (known === undefined) this.bySocket.set(socket, new Set([response]));
    else known.add(response);
  }

  delete(response: Response): void {
    this.bySocket.get(response.req.socket)?.delete(response);
  }

  all(): Response[] {
    return [...this.bySocket.values()].flatMap((some) => [...some]);
  }

  /** Node emits `close` only for the response being written; the others of an ended connection get theirs here. */
  closeAll(socket: Socket): void {
    const left = this.bySocket.get(socket) ?? [];
    this.bySocket.delete(socket);
    for (const response of left) {
      if (response.closed) continue;
      response.destroy();
      response.emit('close');
    }
  }
}
