const MAX_LINES = 40;
const MAX_LINE_LENGTH = 1000;
const BRACKETS_AND_CARETS = new Set('[]{}(),;^ \t');
const AROUND = ['Node.js v', 'node:internal', 'Traceback ', 'note: run with '];
const AROUND_INDENTED = ['at ', 'File "'];

/** Keeps what a child wrote last to standard error, and finds in it what it died of. */
export class RecentOutput {
  private lines: string[] = [];

  add(line: string): void {
    this.lines.push(line.slice(0, MAX_LINE_LENGTH));
    if (this.lines.length > MAX_LINES) this.lines.shift();
  }

  /** The last line that names an error, else the last that says anything; undefined when there is none. */
  get summary(): string | undefined {
    const said = this.lines.filter((line) => !isAround(line));
    return (said.findLast(namesError) ?? said.at(-1) ?? this.lines.at(-1))?.trim();
  }
}

/** `Error: no`, `ModuleNotFoundError: no`, `java.lang.IllegalStateException: no`, `fatal: no`, `npm error 404` and the like. */
function namesError(line: string): boolean {
  const text = line.startsWith('Uncaught ') ? line.slice('Uncaught '.length) : line;
  const [first = ''] = text.toLowerCase().split(/[ :(]/, 1);
  if (first.endsWith('error') || first.endsWith('exception')) return true;
  if (first === 'fatal' || first === 'panic') return true;
  return line.startsWith('npm ERR!') || line.startsWith('npm error') || line.includes("' panicked at ");
}

/** What runtimes write around an error: frames, carets, brackets, their own version. */
function isAround(line: string): boolean {
  const text = line.trimStart();
  if (AROUND.some((start) => line.startsWith(start))) return true;
  if (text !== line && AROUND_INDENTED.some((start) => text.startsWith(start))) return true;
  return [...text].every((character) => BRACKETS_AND_CARETS.has(character));
}
