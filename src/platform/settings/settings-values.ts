import { formatPath, isTable, readAt, type Table } from './dotted-path.js';
import type { GatewaySettings } from './settings.schema.js';
import { childNode, type SettingsNode, settingsRoot } from './settings-tree.js';

/** One key with its value. Inside a collection the key has the real name, not `<name>`. */
export interface SettingValue {
  readonly key: string;
  readonly node: SettingsNode;
  readonly value: unknown;
}

/** Every key of these settings, or of a tree of the same shape, with its value, in the order of the tree. */
export function settingValues(settings: GatewaySettings | Table): readonly SettingValue[] {
  return valuesBelow(settingsRoot(), settings);
}

/** Every key below a node of the schema; skips names that the schema does not know. */
function valuesBelow(node: SettingsNode, value: unknown): readonly SettingValue[] {
  if (node.kind === 'leaf') return [{ key: formatPath(node.path), node, value }];
  if (!isTable(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const child = childNode(node, name);
    return child === undefined ? [] : valuesBelow(child, readAt(value, [name]));
  });
}
