import { mergeTables, type Path, type Table } from './dotted-path.js';
import { nodeAt } from './settings-tree.js';

/** Where a value comes from; later layers win. */
export type LayerName = 'default' | 'file' | 'environment' | 'override';

/** One source of settings: the tree of what it sets, and where in the source each path is set. */
export interface SettingsLayer {
  readonly name: LayerName;
  readonly tree: Table;
  /** `gateway.toml:12`, or the name of a variable. A path inside a value gets the place of the value. */
  readonly whereIs: (path: Path) => string;
}

/** Merges the layers, later ones winning; a table that is one key, such as headers, is replaced whole. */
export function mergeLayers(layers: readonly SettingsLayer[]): Table {
  const isKey = (path: Path) => nodeAt(path)?.kind === 'leaf';
  return layers.reduce<Table>((tree, layer) => mergeTables(tree, layer.tree, isKey), {});
}
