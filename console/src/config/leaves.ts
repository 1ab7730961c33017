/** One setting: its dotted key and its value in force. */
export interface Leaf {
  readonly key: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The settings of a tree, one by one; lists and empty tables count as values. */
export function leavesOf(tree: unknown, path: readonly string[] = []): Leaf[] {
  if (isTable(tree) && (path.length === 0 || Object.keys(tree).length > 0)) {
    return Object.entries(tree).flatMap(([name, value]) => leavesOf(value, [...path, name]));
  }
  return [{ key: path.map(quoted).join('.'), path, value: tree }];
}

/** A tree with this one setting. */
export function changeOf(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As in TOML: a name that contains dots is quoted. */
function quoted(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}
