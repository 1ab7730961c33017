import { readAt, type Table } from './dotted-path.js';
import type { Environment } from './environment.js';
import type { LayerName, SettingsLayer } from './settings-layer.js';

const defaultDataDir = './data';

/** A database of one's own suggests replicas behind a balancer, which needs a moment to notice that one is stopping. */
const graceBehindBalancerMs = 5000;

/**
 * Fills in `database.url` and `database.data_dir` where the layers so far leave them empty, and
 * `gateway.drain_grace_ms` where the gateway has a database that is not embedded.
 */
export function fallbackLayers(merged: Table, environment: Environment): readonly SettingsLayer[] {
  const { databaseUrl, dataDir } = environment;
  const layers: SettingsLayer[] = [];
  const isEmbedded = isEmpty(merged, 'url') && databaseUrl === undefined;
  if (isEmpty(merged, 'url') && databaseUrl !== undefined)
    layers.push(fallback('environment', 'DATABASE_URL', { database: { url: databaseUrl } }));
  if (!isEmbedded && readAt(merged, ['gateway', 'drain_grace_ms']) === undefined)
    layers.push(fallback('default', '', { gateway: { drain_grace_ms: graceBehindBalancerMs } }));
  if (!isEmpty(merged, 'data_dir')) return layers;
  if (dataDir === undefined) layers.push(fallback('default', '', { database: { data_dir: defaultDataDir } }));
  else layers.push(fallback('environment', 'GATEWAY_DATA_DIR', { database: { data_dir: dataDir } }));
  return layers;
}

function isEmpty(merged: Table, key: string): boolean {
  const value = readAt(merged, ['database', key]);
  return value === undefined || value === '';
}

function fallback(name: LayerName, where: string, tree: Table): SettingsLayer {
  return { name, tree, whereIs: () => where };
}
