import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogFilter, LogStore } from '../../../platform/logging/log.store.js';
import type { LogTail, TailReader } from './log-tail.service.js';
import {
  closingFrame,
  type EntryFormat,
  type Gap,
  gapFrame,
  heartbeatFrame,
  logFrame,
  openingFrame,
} from './sse-frames.js';

/** A reader with more than this pending gets no more lines from the tail; it then reads from the database at its own speed. */
const MAX_PENDING_BYTES = 256 * 1024;
const LINES_PER_PAGE = 50;
const CHARS_PER_WRITE = 16_384;
const RETRY_PAGE_MS = 1000;
/** How long a reader that was cut off may take to read what is already on its way. */
const CUT_GRACE_MS = 5000;

export interface LogStreamParts {
  readonly response: ServerResponse;
  readonly filter: LogFilter;
  readonly store: LogStore;
  readonly tail: LogTail;
  readonly format: EntryFormat;
}

/**
 * One reader. It catches up from the database at its own speed, then gets what the tail pushes; a reader that falls
 * behind catches up again. It gets every line exactly once.
 */
export class LogStream implements TailReader {
  readonly filter: LogFilter;
  private readonly gone = new AbortController();
  private cursor = 0;
  private writtenBytes = -1;
  private writtenAt = performance.now();

  constructor(private readonly parts: LogStreamParts) {
    this.filter = parts.filter;
    parts.response.once('close', () => this.end());
  }

  get isOpen(): boolean {
    return !this.gone.signal.aborted;
  }

  /** What is on its way to the reader and held in memory here. */
  get pendingBytes(): number {
    return this.parts.response.writableLength;
  }

  /** The listener is called once the reader is gone, for any reason. */
  onEnd(listener: () => void): void {
    this.gone.signal.addEventListener('abort', listener, { once: true });
  }

  /** Answers 200 and begins after line `cursor`. */
  start(cursor: number, retryMs: number, gap: Gap | undefined): void {
    const { response } = this.parts;
    this.cursor = cursor;
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
    response.write(openingFrame(cursor, retryMs) + (gap === undefined ? '' : gapFrame(cursor, gap)));
    void this.catchUp();
  }

  write(frames: Buffer, cursor: number): void {
    const { response, tail } = this.parts;
    if (response.writableLength + frames.length > MAX_PENDING_BYTES) {
      tail.leave(this);
      void this.catchUp();
      return;
    }
    this.cursor = cursor;
    if (frames.length > 0) response.write(frames);
  }

  /** A comment that keeps proxies from closing the connection; a reader with bytes on their way needs none. */
  heartbeat(): void {
    if (this.isOpen && this.parts.response.writableLength === 0) {
      this.parts.response.write(heartbeatFrame(this.cursor));
    }
  }

  /** Milliseconds since the reader last read anything of what is on its way to it; 0 when nothing is. */
  stalledMs(): number {
    const { response } = this.parts;
    const taken = (response.socket?.bytesWritten ?? 0) - response.writableLength;
    if (taken !== this.writtenBytes || response.writableLength === 0) this.writtenAt = performance.now();
    this.writtenBytes = taken;
    return performance.now() - this.writtenAt;
  }

  /** Cuts off a reader that reads nothing, with a last frame that says where. */
  cut(): void {
    const lines = Math.max(0, this.parts.tail.cursor - this.cursor);
    this.finish(gapFrame(this.cursor, { reason: 'slow_reader', lines, lost: false }));
  }

  /** Tells the reader that the gateway is stopping and that it should reconnect, here or elsewhere. */
  close(retryMs: number): void {
    this.finish(closingFrame(retryMs));
  }

  end(): void {
    this.parts.tail.leave(this);
    this.gone.abort();
  }

  private finish(lastFrame: string): void {
    const { response } = this.parts;
    if (!this.isOpen) return;
    this.end();
    response.end(lastFrame);
    setTimeout(() => response.destroy(), CUT_GRACE_MS).unref();
  }

  /**
   * Writes the lines between its own cursor and the tail's, then joins the tail. Comparing the cursors and joining happen
   * in one turn of the event loop, so no line falls in between.
   */
  private async catchUp(): Promise<void> {
    const { tail } = this.parts;
    while (this.isOpen) {
      if (!(await this.drained())) return;
      if (this.cursor >= tail.cursor) {
        tail.join(this);
        return;
      }
      await this.writePage(tail.cursor).catch(() => this.pause());
    }
  }

  private async writePage(last: number): Promise<void> {
    const { store, response, format } = this.parts;
    const { firstKept, entries } = await store.page(this.filter, this.cursor, last, LINES_PER_PAGE);
    if (!this.isOpen) return;
    this.reportExpired(firstKept);
    let frames = '';
    for (const entry of entries) {
      frames += logFrame(entry.id, format.present(entry));
      if (frames.length < CHARS_PER_WRITE) continue;
      response.write(frames);
      this.cursor = entry.id;
      frames = '';
      if (!(await this.drained())) return;
    }
    if (frames !== '') response.write(frames);
    this.cursor = entries.length < LINES_PER_PAGE ? last : (entries.at(-1)?.id ?? last);
  }

  private reportExpired(firstKept: number): void {
    const lines = firstKept - this.cursor - 1;
    if (lines <= 0) return;
    this.cursor = firstKept - 1;
    this.parts.response.write(gapFrame(this.cursor, { reason: 'expired', lines, lost: true }));
  }

  /** Waits until nothing is on its way any more. @returns false when the reader is gone */
  private async drained(): Promise<boolean> {
    const { response } = this.parts;
    if (this.isOpen && response.writableNeedDrain) {
      await once(response, 'drain', { signal: this.gone.signal }).catch(() => undefined);
    }
    return this.isOpen;
  }

  private async pause(): Promise<void> {
    await sleep(RETRY_PAGE_MS, undefined, { signal: this.gone.signal, ref: false }).catch(() => undefined);
  }
}
