import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { GatewayError } from '../../../../common/errors/gateway-error.js';
import type { HeldBody } from '../../../../http/body/body-room.js';
import type { SocketViewer } from './socket-viewer.js';

/** How long one message may take to arrive; the same as for the body of a request. */
const ARRIVES_WITHIN_MS = 120_000;
/** Bytes before the text in a client's ping or pong (RFC 6455, 5.2 and 5.5). */
const CONTROL_HEAD_BYTES = 6;

interface ArrivingParts {
  readonly viewer: Pick<SocketViewer, 'isOpen' | 'reply' | 'refuseUnfinished' | 'onEnd'>;
  readonly webSocket: Pick<WebSocket, 'on'>;
  readonly socket: Pick<Socket, 'on'>;
  readonly held: HeldBody;
  readonly errorOf: (thrown: unknown) => GatewayError;
}

/** Counts messages that have not arrived completely: they take memory, like the bodies of requests, and may not take for ever. */
export function countArriving({ viewer, webSocket, socket, held, errorOf }: ArrivingParts): void {
  let tooSlow: NodeJS.Timeout | undefined;
  const release = (): void => {
    clearTimeout(tooSlow);
    tooSlow = undefined;
    held.release();
  };
  socket.on('data', ({ length }: Buffer) => {
    if (!viewer.isOpen) return;
    try {
      if (held.add(length))
        tooSlow ??= setTimeout(() => viewer.refuseUnfinished(), ARRIVES_WITHIN_MS).unref();
    } catch (thrown) {
      viewer.reply(errorOf(thrown));
      viewer.refuseUnfinished();
    }
  });
  // These may come between the pieces of a message; once read, they take no memory.
  for (const control of ['ping', 'pong'] as const)
    webSocket.on(control, ({ length }: Buffer) => held.add(-CONTROL_HEAD_BYTES - length));
  webSocket.on('message', release);
  viewer.onEnd(release);
}
