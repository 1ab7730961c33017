import { type Path, readAt, type Table } from './dotted-path.js';
import type { Environment } from './environment.js';
import { environmentHints, environmentLayer } from './environment-layer.js';
import { fileLayer, settingsFile } from './file-layer.js';
import type { GatewaySettings } from './settings.schema.js';
import { settingValues } from './settings-tree.js';
import {
  type CrossKeyCheck,
  InvalidSettings,
  type LayerName,
  layerThatSets,
  mergeLayers,
  type SettingsLayer,
  type SettingsProblem,
  validateLayers,
} from './settings-validation.js';

export interface SettingSource {
  readonly layer: LayerName;
  /** `gateway.toml:12`, or the name of a variable; empty for a default. */
  readonly where: string;
}

export interface LoadedSettings {
  /** Deeply frozen. */
  readonly settings: GatewaySettings;
  /** The file that was read, if any. */
  readonly file: string | undefined;
  /** Where each key's value comes from, by dotted key. */
  readonly sources: ReadonlyMap<string, SettingSource>;
  /** Settings that are valid but probably not meant. */
  readonly warnings: readonly string[];
  /** What the file and the environment set; overrides are merged into it. */
  readonly layers: readonly SettingsLayer[];
}

export interface LoadRequest {
  readonly environment: Environment;
  /** Read instead of `GATEWAY_CONFIG` or `./gateway.toml`; must exist. */
  readonly file?: string | undefined;
  /** Rules of areas, in addition to those of the schema. */
  readonly checks?: readonly CrossKeyCheck[];
}

/** Reads defaults, file and environment; later ones win. Throws one `InvalidSettings` that lists everything wrong. */
export function loadSettings({ environment, file: asked, checks = [] }: LoadRequest): LoadedSettings {
  const file = settingsFile(environment, asked);
  const read = [file === undefined ? [] : fileLayer(file, environment), environmentLayer(environment)].flat();
  const set = read.map(({ layer }) => layer);
  const layers = [...set, ...fallbackLayers(mergeLayers(set), environment)];
  const { settings, problems } = validateLayers(layers, checks);
  const all = withoutRepeated([...read.flatMap((part) => part.problems), ...problems]);
  if (settings === undefined || all.length > 0) throw new InvalidSettings(all);
  return {
    settings: frozen(settings),
    file,
    sources: sourcesOf(settings, layers),
    warnings: environmentHints(environment),
    layers,
  };
}

/** A value that cannot be parsed is often out of bounds too; only the first reason is worth reporting. */
function withoutRepeated(problems: readonly SettingsProblem[]): readonly SettingsProblem[] {
  const isFirst = ({ key, where }: SettingsProblem, index: number) =>
    key === '' || problems.findIndex((other) => other.key === key && other.where === where) === index;
  return problems.filter(isFirst);
}

/** Where the value of each key comes from, by dotted key. */
export function sourcesOf(
  settings: GatewaySettings,
  layers: readonly SettingsLayer[],
): ReadonlyMap<string, SettingSource> {
  return new Map(settingValues(settings).map(({ key, node }) => [key, sourceOf(node.path, layers)]));
}

function sourceOf(path: Path, layers: readonly SettingsLayer[]): SettingSource {
  const layer = layerThatSets(path, layers);
  return layer === undefined
    ? { layer: 'default', where: '' }
    : { layer: layer.name, where: layer.whereIs(path) };
}

/** The value itself, deeply frozen. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

const defaultDataDir = './data';

/**
 * A database of your own suggests several replicas behind a balancer, which takes a moment to notice that one stops.
 */
const graceBehindBalancerMs = 5000;

/**
 * Fills in `database.url` and `database.data_dir` where no layer sets them, and `gateway.drain_grace_ms` when the
 * database is not embedded.
 */
function fallbackLayers(merged: Table, environment: Environment): readonly SettingsLayer[] {
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
