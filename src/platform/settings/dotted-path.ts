/** Names from the root to a key, such as `['agent', 'max_turns']`. */
export type Path = readonly string[];

export type Table = Record<string, unknown>;

const maxDepth = 16;
const unsafeNames = new Set(['__proto__', 'constructor', 'prototype']);

/** Splits `agent.max_turns`. `undefined` when a name is empty or unsafe, or there are more than 16. */
export function parsePath(dotted: string): Path | undefined {
  const path = dotted.split('.', maxDepth + 1);
  return isSafePath(path) ? path : undefined;
}

export function formatPath(path: Path): string {
  return path.join('.');
}

/** Whether a path may be read and written: 1 to 16 names, none empty, none that reaches a prototype. */
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

/** Sets the value at a path, making the tables on the way. Throws `RangeError` on an unsafe path. */
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
 * A deep copy of `base` with `over` merged into it. Tables merge; everything else is replaced, and so are tables at
 * paths for which `isWhole` holds. The copies have no prototype, so that a name like `__proto__` is plain data.
 */
export function mergeTables(
  base: Table,
  over: Table,
  isWhole: (path: Path) => boolean = () => false,
  at: Path = [],
): Table {
  const merged: Table = Object.create(null) as Table;
  for (const [name, value] of Object.entries(base)) merged[name] = copy(value);
  for (const [name, value] of Object.entries(over)) {
    const below = merged[name];
    const path = [...at, name];
    const merges = isTable(value) && isTable(below) && !isWhole(path);
    merged[name] = merges ? mergeTables(below, value, isWhole, path) : copy(value);
  }
  return merged;
}

/** Whether a dotted key is another one or lies below it. */
export function isWithin(key: string, other: string): boolean {
  return key === other || key.startsWith(`${other}.`);
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  return isTable(value) ? mergeTables({}, value) : value;
}

function tableIn(parent: Table, name: string): Table {
  const known = readAt(parent, [name]);
  if (isTable(known)) return known;
  const made: Table = Object.create(null) as Table;
  parent[name] = made;
  return made;
}
