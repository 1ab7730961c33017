import type { Readable } from 'node:stream';
import { CollectedBytes } from '../../../common/bytes/collected-bytes.js';
import {
  BoundedMessage,
  MAX_MESSAGE_BYTES,
  MAX_SKIPPED_BYTES,
  type RefusedMessage,
} from './bounded-message.js';

const NEWLINE = 10;
const FLOW_WINDOW_MS = 1000;

/** A line of messages has no end in sight, so that no later one can be read. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';

  constructor(maxBytes: number) {
    super(`it wrote a line of more than ${maxBytes} bytes`);
  }
}

/** The parts of lines in a chunk; all but the last one end their line. */
function* partsOf(chunk: Buffer): Generator<{ readonly part: Buffer; readonly endsLine: boolean }> {
  let start = 0;
  for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
    yield { part: chunk.subarray(start, end), endsLine: true };
    start = end + 1;
  }
  yield { part: chunk.subarray(start), endsLine: false };
}

/** The end of a chunk that holds its last `most` line ends: the whole chunk if it has no more. */
export function lastLines(chunk: Buffer, most: number): Buffer {
  let start = chunk.length;
  for (let left = most; left >= 0; left -= 1) {
    if (start === 0) return chunk;
    start = chunk.lastIndexOf(NEWLINE, start - 1);
    if (start === -1) return chunk;
  }
  return chunk.subarray(start + 1);
}

function lineOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

/** Splits a stream of bytes into lines of at most `maxBytes`, and skips longer ones. */
export class LineSplitter {
  private readonly line = new CollectedBytes();
  /** Of this line so far, with what was not kept. */
  private size = 0;

  constructor(private readonly maxBytes: number) {}

  /** Returns the lines that this chunk completes, without line ends; undefined stands for one that is too long. */
  push(chunk: Buffer): (string | undefined)[] {
    const lines: (string | undefined)[] = [];
    for (const { part, endsLine } of partsOf(chunk)) {
      const wasTooLong = this.isTooLong;
      this.append(part);
      if (this.isTooLong && !wasTooLong) lines.push(undefined);
      if (!endsLine) continue;
      if (!this.isTooLong) lines.push(lineOf(this.line.take()));
      this.clear();
    }
    return lines;
  }

  /** Forgets an unfinished line. */
  clear(): void {
    this.line.clear();
    this.size = 0;
  }

  private get isTooLong(): boolean {
    return this.size > this.maxBytes;
  }

  private append(part: Buffer): void {
    this.size += part.length;
    if (this.isTooLong) this.line.clear();
    else this.line.add(part);
  }
}

/**
 * Splits a stream of bytes into lines, each a message or a refused one. A line past the bounds is skipped to its end, so
 * that its writer and the other calls go on. It is reported as soon as it is known which request it answers: by its id, or
 * because only one request waits for a response.
 */
export class MessageLines {
  private readonly line = new BoundedMessage();
  private hasMessages = false;
  /** Whether the unfinished line has been reported as refused. */
  private isReported = false;

  /** @param onlyRequest the id of the only request that waits for a response; undefined when none or several do */
  constructor(private readonly onlyRequest: () => string | number | undefined = () => undefined) {}

  /**
   * Returns the lines that this chunk completes, and the unfinished one if it is refused already. Throws `LineTooLong` for
   * an endless line: one past 256 MiB, or past the bound of a message (10 MiB) while no line has been completed yet,
   * because no response can be due by then.
   */
  push(chunk: Buffer): (string | RefusedMessage)[] {
    const lines: (string | RefusedMessage)[] = [];
    for (const { part, endsLine } of partsOf(chunk)) {
      const isEmpty = endsLine && part.length === 0 && this.line.size === 0;
      if (isEmpty) {
        this.hasMessages = true;
        lines.push('');
        continue;
      }
      this.line.push(part);
      const most = this.hasMessages ? MAX_SKIPPED_BYTES : MAX_MESSAGE_BYTES;
      if (this.line.size > most) throw new LineTooLong(most);
      const found = endsLine ? this.end() : this.refusedEarly();
      if (found !== undefined) lines.push(found);
    }
    return lines;
  }

  private end(): string | RefusedMessage | undefined {
    const wasReported = this.isReported;
    this.isReported = false;
    this.hasMessages = true;
    const line = this.line.end();
    if (Buffer.isBuffer(line)) return lineOf(line);
    return wasReported ? undefined : line;
  }

  private refusedEarly(): RefusedMessage | undefined {
    const { refusedFor: reason, isResponse, answeredId } = this.line;
    if (reason === undefined || !isResponse || this.isReported) return undefined;
    const id = answeredId ?? this.onlyRequest();
    if (id === undefined) return undefined;
    this.isReported = true;
    return { reason, id };
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
