import {
  atOrAbove,
  formatPath,
  isSafePath,
  type Path,
  parsePath,
  type Table,
  writeAt,
} from './dotted-path.js';
import { type Environment, type EnvironmentSetting, variableOf, wellKnownVariables } from './environment.js';
import { nearestKey, nearestMatch, unknownKeyText } from './nearest-key.js';
import { leafNodes, nodeAt, type SettingsNode } from './settings-tree.js';
import type { ReadLayer, SettingsProblem } from './settings-validation.js';
import { parseValue, typeText } from './value-text.js';

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
  return {
    layer: { name: 'environment', tree, whereIs: (path) => atOrAbove(variables, path) ?? variableOf(path) },
    problems,
  };
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
  return unknownKeyText(nearest && variableOf(parsePath(nearest) ?? []));
}

function writtenForm({ schema }: SettingsNode): string {
  if (schema.type === 'array') return `${typeText(schema)}, as a JSON array or separated by commas`;
  return schema.type === 'object' ? `${typeText(schema)}, as a JSON object` : typeText(schema);
}

const prefix = 'GATEWAY_';

/**
 * Warnings about variables that look like settings but are not read: `GATEWAY_LOGGING__LEVEL`,
 * `GATEWAY_AGENT_MAX_TURNS`. They are not errors: Kubernetes sets `GATEWAY_PORT` and the like for a Service named
 * `gateway`.
 */
export function environmentHints(environment: Environment): readonly string[] {
  return environment.names.filter(isForeign).flatMap((name) => {
    const meant = settingMeant(name);
    if (meant !== undefined) return `${name} is not read; the variable of this setting is ${meant}`;
    if (name.includes('__')) return `${name} is not read: the variable of a setting starts with GATEWAY__`;
    const nearest = nearestMatch(withoutPrefix(name), wellKnownVariables.map(withoutPrefix));
    return nearest === undefined ? [] : `${name} is not read; the nearest is ${prefix}${nearest}`;
  });
}

/** The variable of the setting whose name differs only in underscores; undefined when there is none. */
function settingMeant(name: string): string | undefined {
  const key = leafNodes().find(({ path }) => withSingles(variableOf(path)) === withSingles(name));
  return key && variableOf(key.path);
}

function withSingles(name: string): string {
  return name.replaceAll(/_+/g, '_');
}

function isForeign(name: string): boolean {
  return /^GATEWAY_[^_]/.test(name) && !wellKnownVariables.includes(name);
}

function withoutPrefix(name: string): string {
  return name.slice(prefix.length);
}
