import { readAt, type Table } from './dotted-path.js';
import type { Environment } from './environment.js';
import type { LayerName, SettingsLayer } from './settings-layer.js';

const defaultDataDir = './data';

/** Fills `database.url` and `database.data_dir` where the layers so far leave them empty. */
export function fallbackLayers(merged: Table, environment: Environment): readonly SettingsLayer[] {
  const { databaseUrl, dataDir } = environment;
  const layers: SettingsLayer[] = [];
  if (isEmpty(merged, 'url') && databaseUrl !== undefined)
    layers.push(fallback('environment', 'DATABASE_URL', { url: databaseUrl }));
  if (!isEmpty(merged, 'data_dir')) return layers;
  if (dataDir === undefined) layers.push(fallback('default', '', { data_dir: defaultDataDir }));
  else layers.push(fallback('environment', 'GATEWAY_DATA_DIR', { data_dir: dataDir }));
  return layers;
}

function isEmpty(merged: Table, key: string): boolean {
  const value = readAt(merged, ['database', key]);
  return value === undefined || value === '';
}

function fallback(name: LayerName, where: string, database: Table): SettingsLayer {
  return { name, tree: { database }, whereIs: () => where };
}
