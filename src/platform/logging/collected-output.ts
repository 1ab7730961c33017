import { LEVEL_RANKS } from './log-level.js';

/** How long a line waits for others, in milliseconds. */
const WAIT_MS = 10;
/** More characters than these do not wait. */
const MOST_CHARS = 65_536;

/**
 * Writes log lines to an output that no one watches as they come. Those of a moment leave in one system call, which costs
 * more than making a line. A warning or an error leaves at once, with everything before it; `flush` writes what is left
 * when the process exits, so that only a process that is killed can lose the lines of its last moment.
 */
export class CollectedOutput {
  private collected = '';
  private isDue = false;
  /** Made once: a timer made for a line would belong to the request on whose behalf that line was written. */
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly write: (text: string) => void) {
    this.timer = setTimeout(() => this.flush(), WAIT_MS).unref();
  }

  /** Takes a line that ends with a line feed. */
  add(line: string, rank: number): void {
    this.collected += line;
    if (rank >= LEVEL_RANKS.warn || this.collected.length >= MOST_CHARS) this.flush();
    else if (!this.isDue) {
      this.isDue = true;
      this.timer.refresh();
    }
  }

  /** Writes everything that was taken so far. */
  flush(): void {
    this.isDue = false;
    if (this.collected === '') return;
    const text = this.collected;
    this.collected = '';
    this.write(text);
  }
}
