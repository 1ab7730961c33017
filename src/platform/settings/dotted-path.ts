/** Names from the root to a key, such as `['agent', 'max_turns']`. */
export type Path = readonly string[];

export type Table = Record<string, unknown>;

const maxDepth = 16;
const unsafeNames = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Splits `agent.max_turns`. A name that contains dots is quoted as in TOML, as in
 * `limits.users."https://login|ada".daily_usd`. `undefined` when a name is empty, unsafe or not closed, or there are
 * more than 16.
 */
export function parsePath(dotted: string): Path | undefined {
  const path: string[] = [];
  for (let at = 0; path.length <= maxDepth; at += 1) {
    const end = endOfName(dotted, at);
    const name = unquoted(dotted.slice(at, end));
    if (name === undefined) return undefined;
    path.push(name);
    if (end === dotted.length) return isSafePath(path) ? path : undefined;
    if (dotted[end] !== '.') return undefined;
    at = end;
  }
  return undefined;
}

/** The reverse of `parsePath`; names that contain dots or start with a quote are quoted. */
export function formatPath(path: Path): string {
  return path.map((name) => (needsQuotes(name) ? JSON.stringify(name) : name)).join('.');
}

const isQuote = (sign: string | undefined): boolean => sign === '"' || sign === "'";

function needsQuotes(name: string): boolean {
  return name.includes('.') || isQuote(name[0]);
}

/** Where the name that starts at `at` ends: after its closing quote, otherwise before the next dot. */
function endOfName(dotted: string, at: number): number {
  const quote = dotted[at];
  if (!isQuote(quote)) {
    const dot = dotted.indexOf('.', at);
    return dot < 0 ? dotted.length : dot;
  }
  for (let end = at + 1; end < dotted.length; end += 1) {
    if (dotted[end] === quote) return end + 1;
    if (dotted[end] === '\\' && quote === '"') end += 1;
  }
  return dotted.length;
}

/** A name as written, without its quotes; undefined when they are not closed or hold an unknown escape. */
function unquoted(name: string): string | undefined {
  if (!isQuote(name[0])) return name;
  if (name.length < 2 || !name.endsWith(name[0] as string)) return undefined;
  if (name[0] === "'") return name.slice(1, -1);
  try {
    return JSON.parse(name) as string;
  } catch {
    return undefined;
  }
}

/** Whether a path may be read and written: 1 to 16 names, none empty, and none that reaches a prototype. */
export function isSafePath(path: Path): boolean {
  return (
    path.length > 0 && path.length <= maxDepth && path.every((name) => name !== '' && !unsafeNames.has(name))
  );
}

export function isTable(value: unknown): value is Table {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** The value at a path, of own properties only; `undefined` when there is none. */
export function readAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Table)[name];
  }
  return value;
}

/** Sets the value at a path, and creates the tables on the way. Throws `RangeError` for an unsafe path. */
export function writeAt(tree: Table, path: Path, value: unknown): void {
  if (!isSafePath(path)) throw new RangeError('Not a path that may be written.');
  const parent = path.slice(0, -1).reduce(tableIn, tree);
  parent[path.at(-1) as string] = value;
}

/** Removes the value at a path, or an element of a list, if there is one. */
export function deleteAt(tree: unknown, path: Path): void {
  const parent = readAt(tree, path.slice(0, -1));
  const name = path.at(-1);
  if (name === undefined || typeof parent !== 'object' || parent === null) return;
  if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else delete (parent as Table)[name];
}

/**
 * A deep copy of the tables merged into one; later ones win. Tables merge; everything else is replaced, and so are
 * tables at paths for which `isWhole` is true. The copies have no prototype, so that a name like `__proto__` is plain
 * data.
 */
export function mergeTables(tables: readonly Table[], isWhole: (path: Path) => boolean = () => false): Table {
  const merged: Table = Object.create(null) as Table;
  for (const table of tables) mergeInto(merged, table, isWhole, []);
  return merged;
}

function mergeInto(merged: Table, over: Table, isWhole: (path: Path) => boolean, at: Path): void {
  for (const [name, value] of Object.entries(over)) {
    const below = merged[name];
    const path = [...at, name];
    if (isTable(value) && isTable(below) && !isWhole(path)) mergeInto(below, value, isWhole, path);
    else merged[name] = copy(value);
  }
}

/** Whether a dotted key is another one or lies below it. */
export function isWithin(key: string, other: string): boolean {
  return key === other || key.startsWith(`${other}.`);
}

/** Whether one of these dotted keys is one of the others or lies below it. */
export function anyWithin(keys: readonly string[], others: readonly string[]): boolean {
  return keys.some((key) => others.some((other) => isWithin(key, other)));
}

/** What a map by dotted key holds for a path, otherwise for its nearest ancestor. */
export function atOrAbove<T>(values: ReadonlyMap<string, T>, path: Path): T | undefined {
  for (let length = path.length; length > 0; length--) {
    const value = values.get(formatPath(path.slice(0, length)));
    if (value !== undefined) return value;
  }
  return undefined;
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  return isTable(value) ? mergeTables([value]) : value;
}

function tableIn(parent: Table, name: string): Table {
  const known = readAt(parent, [name]);
  if (isTable(known)) return known;
  const made: Table = Object.create(null) as Table;
  parent[name] = made;
  return made;
}
