import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogFilter, LogStore } from '../../../platform/logging/log.store.js';
import { type CutReason, EventStream, type Traffic } from '../../../platform/runtime/event-stream.js';
import { SseResponse } from '../../../platform/runtime/sse-response.js';
import type { LogTail, TailReader } from './log-tail.service.js';
import {
  closingFrame,
  type EntryFormat,
  forbiddenFrame,
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
export class LogStream extends EventStream implements TailReader {
  readonly filter: LogFilter;
  private readonly stream: SseResponse;
  private cursor = 0;

  constructor(private readonly parts: LogStreamParts) {
    super();
    this.stream = new SseResponse(parts.response);
    this.filter = parts.filter;
    parts.response.once('close', () => this.end());
  }

  /** What is on its way to the reader and held in memory here. */
  get pendingBytes(): number {
    return this.stream.pendingBytes;
  }

  /** Answers 200 and begins after line `cursor`. */
  start(cursor: number, retryMs: number, gap: Gap | undefined): void {
    this.cursor = cursor;
    const missed = gap === undefined ? '' : gapFrame(cursor, gap);
    this.stream.begin({ opening: openingFrame(cursor, retryMs) + missed });
    void this.catchUp();
  }

  write(frames: Buffer, cursor: number): void {
    if (this.pendingBytes + frames.length > MAX_PENDING_BYTES) {
      this.parts.tail.leave(this);
      void this.catchUp();
      return;
    }
    this.cursor = cursor;
    if (frames.length > 0) this.stream.write(frames);
  }

  heartbeat(): void {
    if (this.isOpen) this.stream.heartbeat(heartbeatFrame(this.cursor));
  }

  /** The last frame says what the reader misses, or that its token ended. */
  cut(why: CutReason): void {
    const lines = Math.max(0, this.parts.tail.cursor - this.cursor);
    const missed: Gap = { reason: 'slow_reader', lines, lost: false };
    this.finish(why === 'stalled' ? gapFrame(this.cursor, missed) : forbiddenFrame());
  }

  /** Tells the reader that the gateway is stopping and that it should reconnect, here or elsewhere. */
  close(retryMs: number): void {
    this.finish(closingFrame(retryMs));
  }

  override end(): void {
    this.parts.tail.leave(this);
    super.end();
  }

  protected traffic(): Traffic {
    return this.stream.traffic;
  }

  private finish(lastFrame: string): void {
    if (!this.isOpen) return;
    this.end();
    this.stream.end(lastFrame);
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
    const { store, format } = this.parts;
    const { firstKept, entries } = await store.page(this.filter, this.cursor, last, LINES_PER_PAGE);
    if (!this.isOpen) return;
    this.reportExpired(firstKept);
    let frames = '';
    for (const entry of entries) {
      frames += logFrame(entry.id, format.present(entry));
      if (frames.length < CHARS_PER_WRITE) continue;
      this.stream.write(frames);
      this.cursor = entry.id;
      frames = '';
      if (!(await this.drained())) return;
    }
    if (frames !== '') this.stream.write(frames);
    this.cursor = entries.length < LINES_PER_PAGE ? last : (entries.at(-1)?.id ?? last);
  }

  private reportExpired(firstKept: number): void {
    const lines = firstKept - this.cursor - 1;
    if (lines <= 0) return;
    this.cursor = firstKept - 1;
    this.stream.write(gapFrame(this.cursor, { reason: 'expired', lines, lost: true }));
  }

  /** Waits until nothing is on its way any more. @returns false when the reader is gone */
  private async drained(): Promise<boolean> {
    if (this.isOpen) await this.stream.drained({ signal: this.whenEnded }).catch(() => undefined);
    return this.isOpen;
  }

  private async pause(): Promise<void> {
    await sleep(RETRY_PAGE_MS, undefined, { signal: this.whenEnded, ref: false }).catch(() => undefined);
  }
}
