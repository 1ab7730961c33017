import type { Path, Table } from './dotted-path.js';

/** Where a value in force comes from; later layers win. */
export type LayerName = 'default' | 'file' | 'environment' | 'override';

/** One source of settings: a tree of what it sets, and where in it a path is set. */
export interface SettingsLayer {
  readonly name: LayerName;
  readonly tree: Table;
  /** `gateway.toml:12`, or the name of a variable; for a path inside a value, that of the value. */
  readonly whereIs: (path: Path) => string;
}
