import type { Socket } from 'node:net';

/**
 * Connections that Node has taken from its HTTP server (`Upgrade`, CONNECT). The server's `close` waits for them and does not
 * end them. While they wait for earlier responses nobody else hears their time-outs, or their errors, which would end the
 * process.
 */
export class DetachedSockets {
  private readonly all = new Set<Socket>();
  /** Those that nobody has taken over. */
  private readonly waiting = new Set<Socket>();

  /** @returns stops listening, for whoever takes the connection over: a WebSocket, or the server once more */
  hold(socket: Socket): () => void {
    const destroy = (): void => void socket.destroy();
    const forget = (): void => {
      this.all.delete(socket);
      this.waiting.delete(socket);
    };
    if (!this.all.has(socket)) socket.once('close', forget);
    this.all.add(socket);
    this.waiting.add(socket);
    socket.on('error', destroy).on('timeout', destroy);
    return () => {
      this.waiting.delete(socket);
      socket.off('error', destroy).off('timeout', destroy);
    };
  }

  destroyWaiting(): void {
    for (const socket of this.waiting) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.all) socket.destroy();
  }
}
