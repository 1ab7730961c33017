import { LEVEL_RANKS, type LogLevel } from './logger.js';
import { fieldsText, visibleText } from './visible-text.js';

export type LogFormat = 'auto' | 'json' | 'pretty';

/** Takes lines that end with a line feed, each with the rank of its level. */
export type LineOutput = (line: string, rank: number) => void;

/**
 * Writes log lines to a console (`logging.format`): as JSON, or pretty. `auto` is pretty on a terminal, and only pretty
 * lines on a terminal have colours. Lines end with a line feed.
 */
export function consoleLines(format: LogFormat, isTerminal: boolean, write: LineOutput): LineOutput {
  if (format === 'json' || (format === 'auto' && !isTerminal)) return write;
  return (line, rank) => write(`${prettyLine(line, isTerminal)}\n`, rank);
}

const COLOURS: Readonly<Record<LogLevel, number>> = { trace: 90, debug: 36, info: 32, warn: 33, error: 31 };
const DIM = 2;
/** A person watches a single process, so its id is left out. */
const OWN_KEYS = new Set(['timestamp', 'level', 'module', 'message', 'replica_id']);

/**
 * A JSON line for people: the time of day in UTC, level, module, sentence, fields. Always one line, whatever it
 * contains.
 */
export function prettyLine(json: string, colours: boolean): string {
  const line = JSON.parse(json) as { timestamp: string; level: LogLevel; module: string; message: string };
  const fields = fieldsText(Object.entries(line).filter(([key]) => !OWN_KEYS.has(key)));
  const paint = (text: string, colour: number) => (colours ? `\u001b[${colour}m${text}\u001b[0m` : text);
  return [
    paint(line.timestamp.slice(11, 23), DIM),
    paint(line.level.toUpperCase().padEnd(5), COLOURS[line.level]),
    paint(visibleText(line.module), DIM),
    `${visibleText(line.message)}${fields === '' ? '' : paint(fields, DIM)}`,
  ].join(' ');
}

/** How long a line waits for others, in milliseconds. */
const WAIT_MS = 10;
/** With this many characters nothing waits. */
const MAX_CHARS = 65_536;

/**
 * Batches log lines for an output that no one watches live: one system call writes all lines of a moment, because a
 * call costs more than making a line. A warning or an error is written at once, with everything before it. Call `flush`
 * when the process exits; only a process that is killed can lose its last lines.
 */
export class CollectedOutput {
  private collected = '';
  private isDue = false;
  /** One timer for all lines: a timer for each would run in the context of the request that wrote the line. */
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly write: (text: string) => void) {
    this.timer = setTimeout(() => this.flush(), WAIT_MS).unref();
  }

  /** Takes a line that ends with a line feed. */
  add(line: string, rank: number): void {
    this.collected += line;
    if (rank >= LEVEL_RANKS.warn || this.collected.length >= MAX_CHARS) this.flush();
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
