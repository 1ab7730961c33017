import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Traffic } from './event-stream.js';

/** A reader that takes nothing for this long when it is told nothing more is cut. */
const CLOSING_MS = 5000;
/** How often it is looked at: whoever takes a little each time is cut after a minute. */
const CLOSING_LOOKS = 12;

export interface SseOptions {
  /** The first frames or lines. */
  readonly opening: string;
  readonly contentType?: string;
}

/** A response of Server-Sent Events (WHATWG HTML, 9.2). It writes what it is given: the caller asks `pendingBytes` before. */
export class SseResponse {
  private beat: NodeJS.Timeout | undefined;

  constructor(private readonly response: ServerResponse) {
    response.once('close', () => clearInterval(this.beat));
  }

  /** Answers 200. Proxies are asked to hold nothing back. */
  begin({ opening, contentType = 'text/event-stream' }: SseOptions): void {
    this.response.writeHead(200, { 'Content-Type': contentType, 'X-Accel-Buffering': 'no' });
    if (opening !== '') this.response.write(opening);
  }

  get isClosed(): boolean {
    return this.response.closed;
  }

  /** Bytes that are held here because the reader has not taken them. */
  get pendingBytes(): number {
    return this.response.writableLength;
  }

  get traffic(): Traffic {
    return { sent: this.response.socket?.bytesWritten ?? 0, pending: this.pendingBytes };
  }

  write(frames: string | Buffer): void {
    this.response.write(frames);
  }

  /** Writes a comment that keeps proxies from closing the connection; one with bytes on their way needs none. */
  heartbeat(frame: string): void {
    if (this.pendingBytes === 0) this.response.write(frame);
  }

  /** A heartbeat every so many milliseconds, until the connection closes. */
  beatEvery(ms: number, frame: string): void {
    this.beat ??= setInterval(() => this.heartbeat(frame), ms).unref();
    if (this.isClosed) clearInterval(this.beat);
  }

  /** Waits until the reader has taken what is on its way. Throws when it does not within `stallMs`, or `signal` aborts. */
  async drained({ stallMs, signal }: { stallMs?: number; signal?: AbortSignal }): Promise<void> {
    if (!this.response.writableNeedDrain) return;
    const signals = [stallMs === undefined ? [] : [AbortSignal.timeout(stallMs)], signal ?? []].flat();
    await once(this.response, 'drain', { signal: AbortSignal.any(signals) });
  }

  /** Ends the response after this frame; whoever does not take it in time is cut. */
  end(lastFrame = ''): void {
    clearInterval(this.beat);
    this.response.end(lastFrame);
    this.destroySoon();
  }

  /** Cuts the connection after this frame: a response that ended would look complete, and its reader would not come back. */
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
