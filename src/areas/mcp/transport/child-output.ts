import type { Logger } from '../../../platform/logging/logger.js';

const MAX_LOGGED_CHARACTERS = 2048;
/** Longer than any secret that begins in the part that is logged. */
const MAX_REDACTED_CHARACTERS = 65_536;
const MAX_LOGGED_LINES = 100;
const WINDOW_MS = 10_000;

const KEPT_LINES = 40;
const MAX_LINE_LENGTH = 1000;
const BRACKETS_AND_CARETS = new Set('[]{}(),;^ \t');
const FRAME_STARTS = ['Node.js v', 'node:internal', 'Traceback ', 'note: run with '];
const INDENTED_FRAME_STARTS = ['at ', 'File "'];

/** Logs what a server says beside its answers: at most 2,048 characters a line and 100 lines in ten seconds. */
export class ChildOutputLog {
  private windowEnd = 0;
  private lines = 0;

  /** @param redact a line is cut after its secrets are gone: half of one would no longer be recognized */
  constructor(
    private readonly logger: Logger,
    private readonly redact: (text: string) => string,
  ) {}

  readonly write = (line: string, level: keyof Logger = 'info'): void => {
    const now = performance.now();
    if (now >= this.windowEnd) {
      if (this.lines > MAX_LOGGED_LINES)
        this.logger.warn('the server wrote too much; lines were left out', {
          left_out: this.lines - MAX_LOGGED_LINES,
        });
      this.windowEnd = now + WINDOW_MS;
      this.lines = 0;
    }
    this.lines += 1;
    if (this.lines <= MAX_LOGGED_LINES) this.logger[level](this.beginningOf(line));
  };

  private beginningOf(line: string): string {
    if (line.length <= MAX_LOGGED_CHARACTERS) return line;
    return this.redact(line.slice(0, MAX_REDACTED_CHARACTERS)).slice(0, MAX_LOGGED_CHARACTERS);
  }
}

/** Keeps the last lines that a child wrote to standard error and finds the one that names its error. */
export class RecentOutput {
  private lines: string[] = [];

  add(line: string): void {
    this.lines.push(line.slice(0, MAX_LINE_LENGTH));
    if (this.lines.length > KEPT_LINES) this.lines.shift();
  }

  /** The last line that names an error, else the last line that is not part of a stack trace; undefined without any. */
  get summary(): string | undefined {
    const messages = this.lines.filter((line) => !isFrame(line));
    return (messages.findLast(namesError) ?? messages.at(-1) ?? this.lines.at(-1))?.trim();
  }
}

/** `Error: …`, `ModuleNotFoundError: …`, `java.lang.IllegalStateException: …`, `fatal: …`, `npm error 404` and the like. */
function namesError(line: string): boolean {
  const text = line.startsWith('Uncaught ') ? line.slice('Uncaught '.length) : line;
  const [first = ''] = text.toLowerCase().split(/[ :(]/, 1);
  if (first.endsWith('error') || first.endsWith('exception')) return true;
  if (first === 'fatal' || first === 'panic') return true;
  return line.startsWith('npm ERR!') || line.startsWith('npm error') || line.includes("' panicked at ");
}

/** What runtimes print around an error: stack frames, carets, brackets, their own version. */
function isFrame(line: string): boolean {
  const text = line.trimStart();
  if (FRAME_STARTS.some((start) => line.startsWith(start))) return true;
  if (text !== line && INDENTED_FRAME_STARTS.some((start) => text.startsWith(start))) return true;
  return [...text].every((character) => BRACKETS_AND_CARETS.has(character));
}
