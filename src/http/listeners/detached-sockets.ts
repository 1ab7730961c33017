import type { Socket } from 'node:net';

/**
 * Connections that Node has taken from its HTTP server (`Upgrade`, CONNECT), and that wait for earlier responses. Nobody
 * else hears their errors, which would end the process, or their time-outs, and the server's own `close` does not see them.
 */
export class DetachedSockets {
  private readonly held = new Set<Socket>();

  /** @returns lets go of the connection: call it once somebody else listens */
  hold(socket: Socket): () => void {
    const destroy = (): void => void socket.destroy();
    const forget = (): void => void this.held.delete(socket);
    this.held.add(socket);
    socket.on('error', destroy).on('timeout', destroy).once('close', forget);
    return () => {
      forget();
      socket.off('error', destroy).off('timeout', destroy).off('close', forget);
    };
  }

  destroyAll(): void {
    for (const socket of this.held) socket.destroy();
  }
}
