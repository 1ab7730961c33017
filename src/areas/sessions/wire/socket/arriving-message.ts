import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { HeldBytes } from '../../../../common/bytes/held-bytes.js';
import type { GatewayError } from '../../../../common/errors/gateway-error.js';
import type { SocketViewer } from './socket-viewer.js';

/** How long one message may take to arrive; the same as for the body of a request. */
const ARRIVES_WITHIN_MS = 120_000;
/** Bytes before the text in a client's ping or pong (RFC 6455, 5.2 and 5.5). */
const CONTROL_HEAD_BYTES = 6;
/** What a piece from the network takes beside its bytes. */
const PIECE_BYTES = 512;
/** How long a message waits for room, and how often it asks again. */
const WAITS_FOR_ROOM_MS = 30_000;
const ASKS_AGAIN_MS = 500;

interface ArrivingParts {
  readonly viewer: Pick<
    SocketViewer,
    'isOpen' | 'reply' | 'refuseUnfinished' | 'pauseForRoom' | 'resumeWithRoom'
  >;
  readonly webSocket: Pick<WebSocket, 'on' | 'once'>;
  readonly socket: Pick<Socket, 'on' | 'destroy'>;
  /** Room for the next message. */
  readonly enter: () => HeldBytes;
  readonly errorOf: (thrown: unknown) => GatewayError;
}

/**
 * Counts the message that is arriving over one WebSocket: it takes memory, like the body of a request, and may not take
 * for ever. While there is no room nothing more is read; messages that wait for each other wait no longer than the limit.
 */
export class ArrivingMessage {
  private held: HeldBytes;
  /** Pieces that are counted since the last message. */
  private pieces = 0;
  private tooSlow: NodeJS.Timeout | undefined;
  /** While there is no room: when it asks again, and until when. */
  private noRoom: { readonly since: number; readonly asksAgain: NodeJS.Timeout } | undefined;

  constructor(private readonly parts: ArrivingParts) {
    const { socket, webSocket, enter } = parts;
    this.held = enter();
    socket.on('data', ({ length }: Buffer) => {
      this.pieces += 1;
      this.count(length + PIECE_BYTES);
    });
    // These may come between the pieces of a message; once read, they take no memory.
    for (const control of ['ping', 'pong'] as const)
      webSocket.on(control, ({ length }: Buffer) => this.control(CONTROL_HEAD_BYTES + length));
    webSocket.once('close', () => this.take().release());
  }

  /** Takes over what has been counted, when a message has arrived: whoever handles the message frees it. */
  take(): HeldBytes {
    clearTimeout(this.tooSlow);
    this.tooSlow = undefined;
    this.readsOn();
    this.pieces = 0;
    const taken = this.held;
    this.held = this.parts.enter();
    return taken;
  }

  private control(bytes: number): void {
    const inPieceOfItsOwn = this.pieces > 0;
    if (inPieceOfItsOwn) this.pieces -= 1;
    this.count(-bytes - (inPieceOfItsOwn ? PIECE_BYTES : 0));
  }

  private count(bytes: number): void {
    try {
      if (this.held.add(bytes))
        this.tooSlow ??= setTimeout(() => this.parts.viewer.refuseUnfinished(), ARRIVES_WITHIN_MS).unref();
      this.readsOn();
    } catch (thrown) {
      this.waits(thrown);
    }
  }

  private waits(thrown: unknown): void {
    const { viewer, socket, errorOf } = this.parts;
    const since = this.noRoom?.since ?? performance.now();
    clearTimeout(this.noRoom?.asksAgain);
    this.noRoom = undefined;
    // It reads the client's last frames only, which are small.
    if (!viewer.isOpen) socket.destroy();
    else if (performance.now() - since >= WAITS_FOR_ROOM_MS) {
      viewer.reply(errorOf(thrown));
      viewer.refuseUnfinished();
    } else {
      viewer.pauseForRoom();
      const asksAgain = setTimeout(() => this.count(0), ASKS_AGAIN_MS).unref();
      this.noRoom = { since, asksAgain };
    }
  }

  private readsOn(): void {
    if (this.noRoom === undefined) return;
    clearTimeout(this.noRoom.asksAgain);
    this.noRoom = undefined;
    this.parts.viewer.resumeWithRoom();
  }
}
