import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';
import { atOrAbove, formatPath, isTable, mergeTables, type Path, type Table } from './dotted-path.js';
import type { Environment } from './environment.js';
import { nodeAt } from './settings-tree.js';
import type { ReadLayer, SettingsLayer, SettingsProblem } from './settings-validation.js';
import { parseValue } from './value-text.js';

const usualFile = 'gateway.toml';
const maxFileBytes = 1_048_576;

/** Why a file cannot be read, in plain words. */
const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'is a folder; name the file in it, such as gateway.toml',
  EACCES: 'this user may not read it',
};

/** The file to read: `file`, else `GATEWAY_CONFIG`, else `./gateway.toml` if it exists. */
export function settingsFile(environment: Environment, file?: string): string | undefined {
  return file ?? environment.configFile ?? (existsSync(usualFile) ? usualFile : undefined);
}

/** What the file sets, with `${NAME}` replaced from the environment. */
export function fileLayer(file: string, environment: Environment): ReadLayer {
  const empty: SettingsLayer = { name: 'file', tree: {}, whereIs: () => file };
  let lines = new TomlLines('');
  try {
    const toml = readToml(file);
    lines = new TomlLines(toml);
    const whereIs = (path: Path) => [file, lines.lineOf(path)].filter((part) => part !== undefined).join(':');
    const tree = mergeTables([parse(toml, { unsafeKeyBehaviour: 'throw', maxDepth: 16 })]);
    const references = new References(environment, whereIs);
    references.replaceIn(tree, []);
    return { layer: { ...empty, tree, whereIs }, problems: references.problems };
  } catch (error) {
    return { layer: empty, problems: [unreadable(file, error, lines)] };
  }
}

function readToml(file: string): string {
  const bytes = readFileSync(file);
  if (bytes.length > maxFileBytes) throw new RangeError(`is larger than ${maxFileBytes} bytes`);
  if (isUtf16(bytes)) throw new RangeError('is UTF-16; save it as UTF-8');
  if (!isUtf8(bytes)) throw new RangeError('holds bytes that are not UTF-8; save it as UTF-8');
  return new TextDecoder('utf-8').decode(bytes);
}

/** Recognised by its byte order mark, or by a zero byte in the first character, since TOML starts with ASCII. */
function isUtf16(bytes: Buffer): boolean {
  const [first, second] = bytes;
  return (
    (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0
  );
}

/**
 * The parser's message quotes the lines around the fault, which may contain secrets, so only its first line is kept.
 */
function unreadable(file: string, error: unknown, lines: TomlLines): SettingsProblem {
  if (error instanceof TomlError) {
    const where = `${file}:${error.line}:${error.column}`;
    const message = error.message.split('\n')[0] ?? '';
    return message.includes('redefine') ? setTwice(where, error.line, lines) : { where, key: '', message };
  }
  const { code = '', message } = error as NodeJS.ErrnoException;
  return { where: file, key: '', message: FILE_FAULTS[code] ?? message };
}

function setTwice(where: string, line: number, lines: TomlLines): SettingsProblem {
  const key = lines.keyAt(line) ?? '';
  const first = lines.firstLineOf(key) ?? line;
  const message =
    first < line ? `is set twice; first on line ${first}. Keep one` : 'sets something for the second time';
  return { where, key, message };
}

/** Replaces the references in the tree of one file and collects problems with them. */
class References {
  readonly problems: SettingsProblem[] = [];

  constructor(
    private readonly environment: Environment,
    private readonly whereIs: (path: Path) => string,
  ) {}

  /** Replaces references in a table or list, in place. */
  replaceIn(holder: Table | unknown[], path: Path): void {
    for (const [name, value] of Object.entries(holder)) {
      const here = [...path, name];
      if (isTable(value) || Array.isArray(value)) this.replaceIn(value, here);
      else if (typeof value === 'string' && value.includes('${'))
        this.#replace(holder as Table, name, value, here);
    }
  }

  #replace(holder: Table, name: string, value: string, path: Path): void {
    const { text, missing, malformed } = substitute(value, (variable) => this.environment.lookup(variable));
    if (malformed)
      this.#report(
        path,
        'a reference is a dollar sign and a name in braces; a doubled dollar sign stands for itself',
      );
    if (missing.length > 0) this.#report(path, `needs ${missing.join(', ')}, not set in the environment`);
    const schema = nodeAt(path)?.schema;
    holder[name] = schema === undefined ? text : (parseValue(schema, text) ?? text);
  }

  #report(path: Path, message: string): void {
    this.problems.push({ where: this.whereIs(path), key: formatPath(path), message });
  }
}

/** Text with its references replaced, the names that are missing, and whether a reference is malformed. */
export interface Substituted {
  readonly text: string;
  readonly missing: readonly string[];
  readonly malformed: boolean;
}

/** Not variables: their values are only known when a tool server is started. */
const LATER = new Set(['user_state']);
const reference = /\$?\$\{(?:([A-Za-z_][A-Za-z0-9_]*)\})?/g;

/**
 * Replaces every `${NAME}` by `lookup(NAME)`; `$${` stands for a plain `${`. Does not replace anything within inserted
 * text.
 */
export function substitute(text: string, lookup: (name: string) => string | undefined): Substituted {
  const missing: string[] = [];
  let malformed = false;
  const replaced = text.replace(reference, (match, name: string | undefined) => {
    if (match.startsWith('$$')) return match.slice(1);
    if (name !== undefined && LATER.has(name)) return match;
    if (name === undefined) malformed = true;
    const value = name === undefined ? undefined : lookup(name);
    if (name !== undefined && value === undefined) missing.push(name);
    return value ?? '';
  });
  return { text: replaced, missing, malformed };
}

const namePattern = `(?:[A-Za-z0-9_-]+|"[^"\\n]*"|'[^'\\n]*')`;
const dotted = `${namePattern}(?:\\s*\\.\\s*${namePattern})*`;
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

  /** The first line that sets exactly this key or table. */
  firstLineOf(key: string): number | undefined {
    return this.#lines.get(key);
  }

  /** The line that sets a path, otherwise the line of its nearest ancestor. */
  lineOf(path: Path): number | undefined {
    return atOrAbove(this.#lines, path);
  }

  #note(path: Path, line: number): void {
    const key = formatPath(path);
    this.#keys.set(line, key);
    if (!this.#lines.has(key)) this.#lines.set(key, line);
  }
}

function namesOf(text: string): Path {
  return (text.match(new RegExp(namePattern, 'g')) ?? []).map((part) => part.replace(/^["']|["']$/g, ''));
}

/** The quotes of a multi-line string that starts in the line and does not end there. */
function leftOpen(value: string): string {
  const quotes = /"""|'''/.exec(value)?.[0] ?? '';
  return quotes !== '' && value.split(quotes).length === 2 ? quotes : '';
}
