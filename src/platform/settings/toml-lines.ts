import { formatPath, type Path } from './dotted-path.js';

const name = `(?:[A-Za-z0-9_-]+|"[^"\\n]*"|'[^'\\n]*')`;
const dotted = `${name}(?:\\s*\\.\\s*${name})*`;
const header = new RegExp(`^\\s*\\[\\[?\\s*(${dotted})\\s*\\]`);
const assignment = new RegExp(`^\\s*(${dotted})\\s*=(.*)$`);

/** The lines (from 1) of a TOML text on which keys and tables are set. */
export class TomlLines {
  readonly #lines = new Map<string, number>();
  readonly #keys = new Map<number, string>();

  constructor(toml: string) {
    let table: Path = [];
    let openString = '';
    for (const [index, line] of toml.split('\n').entries()) {
      if (openString !== '') {
        if (line.includes(openString)) openString = '';
        continue;
      }
      const opened = header.exec(line)?.[1];
      const assigned = assignment.exec(line);
      if (opened !== undefined) table = namesOf(opened);
      if (opened !== undefined) this.#note(table, index + 1);
      else if (assigned) this.#note([...table, ...namesOf(assigned[1] ?? '')], index + 1);
      openString = leftOpen(assigned?.[2] ?? '');
    }
  }

  /** The dotted key or table that a line sets, if any. */
  keyAt(line: number): string | undefined {
    return this.#keys.get(line);
  }

  /** The first line that sets this very key or table. */
  firstLineOf(key: string): number | undefined {
    return this.#lines.get(key);
  }

  /** The line that sets a path, else the nearest of its ancestors. */
  lineOf(path: Path): number | undefined {
    for (let length = path.length; length > 0; length--) {
      const line = this.#lines.get(formatPath(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return undefined;
  }

  #note(path: Path, line: number): void {
    const key = formatPath(path);
    this.#keys.set(line, key);
    if (!this.#lines.has(key)) this.#lines.set(key, line);
  }
}

function namesOf(text: string): Path {
  return (text.match(new RegExp(name, 'g')) ?? []).map((part) => part.replace(/^["']|["']$/g, ''));
}

/** The quotes of a multi-line string that starts in the line and does not end there. */
function leftOpen(value: string): string {
  const quotes = /"""|'''/.exec(value)?.[0] ?? '';
  return quotes !== '' && value.split(quotes).length === 2 ? quotes : '';
}
