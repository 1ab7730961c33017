import type { Readable } from 'node:stream';
import { BoundedMessage, MAX_MESSAGE_BYTES, type RefusedMessage } from './bounded-message.js';

const NEWLINE = 10;
/** A line past the message bounds is skipped up to this many bytes; a longer one counts as endless. */
const MAX_SKIPPED_BYTES = 64 * 1_048_576;
const FLOW_WINDOW_MS = 1000;

/** A line is longer than its reader accepts. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';

  constructor(maxBytes: number) {
    super(`A line of more than ${maxBytes} bytes was written.`);
  }
}

/** Splits a stream of bytes into lines; buffers at most one unfinished line of `maxBytes`. */
export class LineSplitter {
  private pieces: Buffer[] = [];
  private size = 0;

  constructor(private readonly maxBytes: number) {}

  /** Returns the lines that this chunk completes, without line ends. Throws `LineTooLong` and then starts over. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.append(chunk.subarray(start, end));
      lines.push(this.flush());
      start = end + 1;
    }
    this.append(chunk.subarray(start));
    return lines;
  }

  private append(piece: Buffer): void {
    if (piece.length === 0) return;
    this.size += piece.length;
    if (this.size > this.maxBytes) {
      this.flush();
      throw new LineTooLong(this.maxBytes);
    }
    this.pieces.push(piece);
  }

  private flush(): string {
    const line = Buffer.concat(this.pieces).toString('utf8');
    this.pieces = [];
    this.size = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}

/**
 * Splits a stream of bytes into lines, each a message or a refused one. A line past the bounds is skipped to its end, so
 * that its writer can go on.
 */
export class MessageLines {
  private readonly line = new BoundedMessage();
  private hasMessages = false;

  /**
   * Returns the lines that this chunk completes. Throws `LineTooLong` for an endless line: one past 64 MiB, or past the
   * bound of a message (10 MiB) while no line has been completed yet, because no response can be due by then.
   */
  push(chunk: Buffer): (string | RefusedMessage)[] {
    const lines: (string | RefusedMessage)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.append(chunk.subarray(start, end));
      lines.push(this.flush());
      start = end + 1;
    }
    this.append(chunk.subarray(start));
    return lines;
  }

  private append(piece: Buffer): void {
    this.line.push(piece);
    const most = this.hasMessages ? MAX_SKIPPED_BYTES : MAX_MESSAGE_BYTES;
    if (this.line.size > most) throw new LineTooLong(most);
  }

  private flush(): string | RefusedMessage {
    this.hasMessages = true;
    const line = this.line.end();
    if (!Buffer.isBuffer(line)) return line;
    const text = line.toString('utf8');
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  }
}

/** Stops reading for the rest of a second in which too much arrived: a flood slows down its sender and no one else. */
export class FlowLimit {
  private windowEnd = 0;
  private bytes = 0;
  private lines = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly stream: Readable,
    private readonly most: { readonly bytes: number; readonly lines: number },
  ) {}

  /** Counts what was just read from the stream and pauses it when that is too much. */
  count(bytes: number, lines: number): void {
    const now = performance.now();
    if (now >= this.windowEnd) {
      this.windowEnd = now + FLOW_WINDOW_MS;
      this.bytes = 0;
      this.lines = 0;
    }
    this.bytes += bytes;
    this.lines += lines;
    if (this.bytes <= this.most.bytes && this.lines <= this.most.lines) return;
    this.stream.pause();
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.stream.resume();
    }, this.windowEnd - now);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
