import type { Socket } from 'node:net';

/** Requests that are ignored on a connection before it ends. Node keeps each of them as long as the connection. */
const MAX_IGNORED = 100;

interface CutOff {
  ignored: number;
  /** Node reads on after each complete request. */
  readonly pause: () => void;
}

/** Connections whose requests are not accepted any more: nothing is read from them until their refusal can be sent. */
export class CutOffConnections {
  private readonly all = new WeakMap<Socket, CutOff>();

  has(socket: Socket): boolean {
    return this.all.has(socket);
  }

  add(socket: Socket): void {
    const pause = (): void => void socket.pause();
    this.all.set(socket, { ignored: 0, pause });
    socket.on('resume', pause);
    pause();
  }

  /** What had arrived in one piece with the first is parsed to its end. If that is much, the connection is not worth a refusal. */
  ignoreOne(socket: Socket): void {
    const cutOff = this.all.get(socket);
    if (cutOff === undefined) return;
    cutOff.ignored += 1;
    if (cutOff.ignored > MAX_IGNORED) socket.destroy();
  }

  /** Reads again, as far as whoever refuses it wants to. */
  release(socket: Socket): void {
    const cutOff = this.all.get(socket);
    if (cutOff !== undefined) socket.off('resume', cutOff.pause);
  }
}
