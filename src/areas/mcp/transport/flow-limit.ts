import type { Readable } from 'node:stream';

const WINDOW_MS = 1000;

/** Stops reading for the rest of a second in which too much came: a flood costs its sender, not everyone else. */
export class FlowLimit {
  private windowEnd = 0;
  private bytes = 0;
  private lines = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly stream: Readable,
    private readonly most: { readonly bytes: number; readonly lines: number },
  ) {}

  /** Counts what was just read from the stream. */
  count(bytes: number, lines: number): void {
    const now = performance.now();
    if (now >= this.windowEnd) {
      this.windowEnd = now + WINDOW_MS;
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
