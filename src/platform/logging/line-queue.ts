export interface QueuedLine {
  readonly line: string;
  readonly rank: number;
}

/** Lines that wait to be stored: at most so many and so many characters; the oldest give way, and are counted. */
export class LineQueue {
  private lines: QueuedLine[] = [];
  private first = 0;
  private chars = 0;
  private dropped = 0;

  constructor(
    private readonly maxLines: number,
    private readonly maxChars: number,
  ) {}

  get size(): number {
    return this.lines.length - this.first;
  }

  push(line: QueuedLine): void {
    this.lines.push(line);
    this.chars += line.line.length;
    while (this.size > this.maxLines || (this.chars > this.maxChars && this.size > 0)) {
      this.shift();
      this.dropped += 1;
    }
  }

  /** Takes out the oldest: at most `lines`, and no further once `chars` is reached. */
  shiftBatch(lines: number, chars: number): QueuedLine[] {
    const taken: QueuedLine[] = [];
    let size = 0;
    while (taken.length < lines && size < chars && this.size > 0) {
      const next = this.shift();
      size += next.line.length;
      taken.push(next);
    }
    return taken;
  }

  countDropped(lines: number): void {
    this.dropped += lines;
  }

  /** How many were dropped since the last call. */
  drainDropped(): number {
    const dropped = this.dropped;
    this.dropped = 0;
    return dropped;
  }

  private shift(): QueuedLine {
    const line = this.lines[this.first] as QueuedLine;
    this.first += 1;
    this.chars -= line.line.length;
    if (this.first > 1024 && this.first * 2 > this.lines.length) {
      this.lines = this.lines.slice(this.first);
      this.first = 0;
    }
    return line;
  }
}
