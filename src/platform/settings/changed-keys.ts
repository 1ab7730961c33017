import { isDeepStrictEqual } from 'node:util';
import type { GatewaySettings } from './settings.schema.js';
import { settingValues } from './settings-tree.js';

/** The dotted keys whose value differs, in the order of the tree, then those that are gone. */
export function changedKeys(before: GatewaySettings, after: GatewaySettings): readonly string[] {
  const old = new Map(settingValues(before).map(({ key, value }) => [key, value]));
  const changed: string[] = [];
  for (const { key, value } of settingValues(after)) {
    if (!old.has(key) || !isDeepStrictEqual(old.get(key), value)) changed.push(key);
    old.delete(key);
  }
  return [...changed, ...old.keys()];
}
