import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Traffic } from './event-stream.js';
import { signalWithin } from './signal-within.js';

/** After the last frame, a reader that takes nothing for this long is cut. */
const CLOSING_MS = 5000;
/** How often that is checked. A reader that takes a little each time is cut after a minute. */
const CLOSING_LOOKS = 12;

export interface SseOptions {
  /** The first frames or lines. */
  readonly opening: string;
  readonly contentType?: string;
}

/**
 * A response of Server-Sent Events (WHATWG HTML, 9.2). It writes what it is given; callers check `pendingBytes` first.
 */
export class SseResponse {
  private beat: NodeJS.Timeout | undefined;

  constructor(private readonly response: ServerResponse) {
    response.once('close', () => clearInterval(this.beat));
  }

  /** Responds with 200, and asks proxies not to buffer. */
  begin({ opening, contentType = 'text/event-stream' }: SseOptions): void {
    this.response.writeHead(200, { 'Content-Type': contentType, 'X-Accel-Buffering': 'no' });
    if (opening !== '') this.response.write(opening);
  }

  get isClosed(): boolean {
    return this.response.closed;
  }

  /** Bytes that wait here because the reader has not taken them. */
  get pendingBytes(): number {
    return this.response.writableLength;
  }

  get traffic(): Traffic {
    return { sent: this.response.socket?.bytesWritten ?? 0, pending: this.pendingBytes };
  }

  write(frames: string | Buffer): void {
    this.response.write(frames);
  }

  /** Writes a comment that keeps proxies from closing the connection, unless bytes are on their way already. */
  heartbeat(frame: string): void {
    if (this.pendingBytes === 0) this.response.write(frame);
  }

  /** Writes a heartbeat every so many milliseconds, until the connection closes. */
  beatEvery(ms: number, frame: string): void {
    this.beat ??= setInterval(() => this.heartbeat(frame), ms).unref();
    if (this.isClosed) clearInterval(this.beat);
  }

  /**
   * Waits until the reader has taken the bytes on their way. Throws when it has not within `stallMs`, or when `signal`
   * aborts.
   */
  async drained({ stallMs, signal }: { stallMs?: number; signal?: AbortSignal }): Promise<void> {
    if (!this.response.writableNeedDrain) return;
    const inTime = stallMs === undefined ? signal : signalWithin(stallMs, signal);
    await once(this.response, 'drain', inTime === undefined ? {} : { signal: inTime });
  }

  /** Ends the response after this frame; a reader that does not take it in time is cut. */
  end(lastFrame = ''): void {
    clearInterval(this.beat);
    this.response.end(lastFrame);
    this.destroySoon();
  }

  /**
   * Cuts the connection after this frame: a response that ended properly would look complete, and its reader would not
   * come back.
   */
  cut(lastFrame: string): void {
    clearInterval(this.beat);
    this.response.write(lastFrame, () => this.response.destroy());
    this.destroySoon();
  }

  /** Cuts the connection at once. */
  destroy(): void {
    this.response.destroy();
  }

  private destroySoon(looks = CLOSING_LOOKS, takenBefore = this.takenBytes): void {
    setTimeout(() => {
      const isTaking = looks > 1 && this.takenBytes > takenBefore;
      if (isTaking && !this.isClosed) this.destroySoon(looks - 1);
      else this.destroy();
    }, CLOSING_MS).unref();
  }

  private get takenBytes(): number {
    const { sent, pending } = this.traffic;
    return sent - pending;
  }
}
