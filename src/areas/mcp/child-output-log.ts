import type { Logger } from '../../platform/logging/logger.js';

const MAX_CHARACTERS = 2048;
const MAX_LINES = 100;
const WINDOW_MS = 10_000;

/** Turns what a child says beside its messages into log lines: cut, and no more than a hundred in ten seconds. */
export class ChildOutputLog {
  private windowEnd = 0;
  private lines = 0;

  constructor(private readonly logger: Logger) {}

  readonly write = (line: string): void => {
    const now = performance.now();
    if (now >= this.windowEnd) {
      if (this.lines > MAX_LINES)
        this.logger.warn('lines were left out', { left_out: this.lines - MAX_LINES });
      this.windowEnd = now + WINDOW_MS;
      this.lines = 0;
    }
    this.lines += 1;
    if (this.lines <= MAX_LINES) this.logger.info(line.slice(0, MAX_CHARACTERS));
  };
}
