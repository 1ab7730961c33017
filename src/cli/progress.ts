import type { Terminal } from './command-context.js';

const EVERY_MS = 100;

/** Shows how far a long command is. */
export interface Progress {
  /** Rows done of rows to do. */
  show(done: number, all: number): void;
  /** Ends the line, before anything else is written. */
  end(): void;
}

/** On a terminal one line that is written over and over; elsewhere nothing, so that logs stay short. */
export function progressOn(
  terminal: Pick<Terminal, 'err'>,
  what: string,
  isTerminal = process.stderr.isTTY,
): Progress {
  let shownAt = Number.NEGATIVE_INFINITY;
  let isOpen = false;
  return {
    show: (done, all) => {
      if (!isTerminal || (performance.now() - shownAt < EVERY_MS && done < all)) return;
      shownAt = performance.now();
      isOpen = true;
      const share = all === 0 ? 100 : Math.min(100, Math.floor((100 * done) / all));
      terminal.err(`\r${what}: ${done} of ${all} rows (${share} %)`);
    },
    end: () => {
      if (isOpen) terminal.err('\n');
      isOpen = false;
    },
  };
}
