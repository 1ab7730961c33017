import { formatPath, isSafePath, type Path, type Table, writeAt } from './dotted-path.js';
import { type Environment, type EnvironmentSetting, variableOf } from './environment.js';
import type { SettingsProblem } from './invalid-settings.js';
import { nearestKey } from './nearest-key.js';
import type { SettingsLayer } from './settings-layer.js';
import { nodeAt, type SettingsNode } from './settings-tree.js';
import { typeText } from './type-text.js';
import { parseValue } from './value-parser.js';

interface ReadLayer {
  readonly layer: SettingsLayer;
  readonly problems: readonly SettingsProblem[];
}

/** What the `GATEWAY__SECTION__KEY` variables set, parsed by the type of each key. */
export function environmentLayer(environment: Environment): ReadLayer {
  const tree: Table = {};
  const variables = new Map<string, string>();
  const problems: SettingsProblem[] = [];
  for (const setting of environment.settings) {
    const key = formatPath(setting.path);
    const message = variables.has(key) ? `is also set by ${variables.get(key)}` : apply(tree, setting);
    variables.set(key, setting.variable);
    if (message !== undefined) problems.push({ where: setting.variable, key, message });
  }
  return { layer: { name: 'environment', tree, whereIs: (path) => variableFor(path, variables) }, problems };
}

/** Writes one setting into the tree. @returns what is wrong with it, if anything */
function apply(tree: Table, { path, value }: EnvironmentSetting): string | undefined {
  const node = isSafePath(path) ? nodeAt(path) : undefined;
  if (node === undefined) return unknownVariable(path);
  if (node.kind === 'section') return 'is a section; set one of its keys';
  const parsed = parseValue(node.schema, value);
  if (parsed === undefined) return `expected ${writtenForm(node)}`;
  writeAt(tree, path, parsed);
  return undefined;
}

function unknownVariable(path: Path): string {
  const nearest = nearestKey(path);
  return nearest === undefined
    ? 'unknown key'
    : `unknown key; the nearest is ${variableOf(nearest.split('.'))}`;
}

function writtenForm({ schema }: SettingsNode): string {
  if (schema.type === 'array') return `${typeText(schema)}, as a JSON array or separated by commas`;
  return schema.type === 'object' ? `${typeText(schema)}, as a JSON object` : typeText(schema);
}

function variableFor(path: Path, variables: ReadonlyMap<string, string>): string {
  for (let length = path.length; length > 0; length--) {
    const variable = variables.get(formatPath(path.slice(0, length)));
    if (variable !== undefined) return variable;
  }
  return variableOf(path);
}
