import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { GatewayError } from '../../../../common/errors/gateway-error.js';
import { presentError } from '../../../../http/envelope/error-envelope.js';
import type { ProfileId } from '../../../../http/profiles/profile.js';
import type { CutReason, Traffic } from '../../../../platform/runtime/event-stream.js';
import { eventId, Viewer } from '../../../live/live.api.js';
import type { LiveEvent, TurnPosition } from '../../../turns/turns.api.js';
import { presentEvent } from '../turn-events.views.js';

/** Nothing more is written to a viewer while more than this is in flight to it. */
const MAX_PENDING_BYTES = 65_536;
const CLOSING_MS = 5000;
/** Close codes of RFC 6455 and its registry: the service restarts, a policy was violated, try again later. docs/streaming.md */
const RESTART = 1012;
const POLICY = 1008;
const TRY_LATER = 1013;

/** A viewer over a WebSocket: of every turn of a session, beginning with the running one. */
export class SocketViewer extends Viewer {
  private isAlive = true;
  private isHeldBack = false;

  constructor(
    private readonly webSocket: WebSocket,
    private readonly socket: Socket,
    private readonly profile: ProfileId,
  ) {
    super();
    webSocket.once('close', () => this.end());
    // The client sent an invalid frame. `ws` has sent a close code that says why; give it time to arrive.
    webSocket.on('error', () => this.endSoon());
  }

  get isFull(): boolean {
    return this.webSocket.bufferedAmount > MAX_PENDING_BYTES;
  }

  write(event: LiveEvent, turnId: string, position: TurnPosition): void {
    this.send({
      type: event.type,
      event_id: eventId(turnId, position),
      ...presentEvent(event, this.profile),
    });
  }

  /** An answer to this viewer alone. While the client does not read its answers, nothing more is read from it. */
  reply(frame: { readonly type: 'pong' } | GatewayError): void {
    this.send(frame instanceof Error ? { type: 'error', ...presentError(this.profile, frame) } : frame);
    this.readOnlyWhileItReads();
  }

  /** The answer to a protocol-level ping. */
  pong(data: Buffer): void {
    this.webSocket.pong(data, false, () => this.room());
    this.readOnlyWhileItReads();
  }

  /** Notes a protocol-level pong. @returns whether one was expected */
  beat(): boolean {
    const wasAwaited = !this.isAlive;
    this.isAlive = true;
    return wasAwaited;
  }

  /** Closes a connection that floods; none of its frames is looked at any more. */
  refuseFlood(): void {
    if (!this.isOpen) return;
    this.finish(POLICY, 'too many frames beyond the rate limit');
    this.readNoMore();
  }

  /** Closes a connection whose unfinished message takes more memory or time than it may. */
  refuseUnfinished(): void {
    this.finish(TRY_LATER, 'a message did not come to its end');
    this.readNoMore();
  }

  heartbeat(): void {
    // Its pongs are not read either.
    if (this.isHeldBack) return;
    if (!this.isAlive) {
      this.webSocket.terminate();
      return;
    }
    this.isAlive = false;
    this.webSocket.ping();
  }

  cut(why: CutReason): void {
    this.finish(why === 'forbidden' ? POLICY : TRY_LATER, why);
  }

  protected traffic(): Traffic {
    return { sent: this.socket.bytesWritten, pending: this.webSocket.bufferedAmount };
  }

  protected sendClose(retryMs: number): void {
    this.finish(RESTART, `the gateway is stopping; come back in ${retryMs} ms`);
  }

  protected turnIsOver(): void {
    // Another turn may follow.
  }

  /** Stops reading: data stays in the socket's buffers, and finally with the client. */
  readNoMore(): void {
    this.webSocket.pause();
  }

  /** Stops reading until `resumeWithRoom`, whatever is sent to the client meanwhile: there is no room for what it sends. */
  pauseForRoom(): void {
    this.isHeldBack = true;
    this.readNoMore();
  }

  resumeWithRoom(): void {
    this.isHeldBack = false;
    this.isAlive = true;
    this.readOn();
  }

  /** Reads again, unless the client does not read what it is sent, or is held back. */
  readOn(): void {
    if (this.isHeldBack) return;
    if (this.webSocket.isPaused && this.isOpen && !this.isFull) this.webSocket.resume();
  }

  protected override room(): void {
    this.readOn();
    super.room();
  }

  private readOnlyWhileItReads(): void {
    if (this.isFull) this.readNoMore();
  }

  private send(frame: object): void {
    this.webSocket.send(JSON.stringify(frame), () => this.room());
  }

  private finish(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.webSocket.close(code, reason);
    this.endSoon();
  }

  private endSoon(): void {
    this.end();
    setTimeout(() => this.webSocket.terminate(), CLOSING_MS).unref();
  }
}
