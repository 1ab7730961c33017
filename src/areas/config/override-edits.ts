import { isDeepStrictEqual } from 'node:util';
import type { SecretBox } from '../../platform/secrets/secret-box.js';
import {
  afterEdits,
  type CandidateBuilder,
  newlyIgnored,
  type OverrideContent,
  type OverrideEdit,
  openContent,
  type SettingsCandidate,
  type StoredOverride,
  sealContext,
} from '../../platform/settings/candidate-builder.js';
import { isWithin, parsePath, readAt } from '../../platform/settings/dotted-path.js';
import { redactedTree } from '../../platform/settings/redaction.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { SettingsProblem } from '../../platform/settings/settings-validation.js';
import type { ConfigChange } from './config-change.js';
import type { PatchItem } from './config-patch.js';

/** The edits that make the items hold; none for items that hold already. Seals secrets. */
export function editsForPatch(
  items: readonly PatchItem[],
  rows: readonly StoredOverride[],
  box: SecretBox,
): readonly OverrideEdit[] {
  const known = new Map(rows.map(({ key, content }) => [key, content]));
  return items.flatMap(({ key, value, secret }) => {
    if (value === null) return rows.filter((row) => isWithin(row.key, key)).map(removal);
    const before = known.get(key) ?? null;
    if (before !== null && holds(before, { key, value, secret }, box)) return [];
    const after = secret ? { sealed: box.seal(JSON.stringify(value), sealContext(key)) } : { value };
    return [{ key, before, after }];
  });
}

/** The edits that undo these changes, which must be the newest ones, newest first. */
export function editsToUndo(
  changes: readonly ConfigChange[],
  rows: readonly StoredOverride[],
): readonly OverrideEdit[] {
  const known = new Map(rows.map(({ key, content }) => [key, content]));
  const target = new Map<string, OverrideContent | null>();
  for (const { action, edits } of changes) {
    if (action === 'reload') continue;
    for (const { key, before } of edits) target.set(key, before);
  }
  return [...target]
    .map(([key, after]) => ({ key, before: known.get(key) ?? null, after }))
    .filter(({ before, after }) => !isDeepStrictEqual(before, after));
}

/** What is wrong with the values of the items, validated with the whole configuration. */
export function unfitItems(
  items: readonly PatchItem[],
  base: SettingsCandidate,
  { builder, box }: { readonly builder: CandidateBuilder; readonly box: SecretBox },
): readonly SettingsProblem[] {
  const { layers, stored } = base;
  const rows = afterEdits(stored.rows, editsForPatch(items, stored.rows, box));
  return newlyIgnored(builder.build(layers, { ...stored, rows }), base);
}

function removal({ key, content }: StoredOverride): OverrideEdit {
  return { key, before: content, after: null };
}

function holds(content: OverrideContent, { key, value, secret }: PatchItem, box: SecretBox): boolean {
  if (secret !== 'sealed' in content) return false;
  try {
    return isDeepStrictEqual(openContent(box, key, content), value);
  } catch {
    return false;
  }
}

/** What a reload changed, for the history only: the values are redacted, so it cannot be undone. */
export function editsToShow(
  keys: readonly string[],
  before: GatewaySettings,
  after: GatewaySettings,
): readonly OverrideEdit[] {
  const [old, now] = [redactedTree(before), redactedTree(after)];
  return keys.map((key) => ({ key, before: contentAt(old, key), after: contentAt(now, key) }));
}

function contentAt(tree: unknown, key: string): OverrideContent | null {
  const path = parsePath(key);
  const value = path && readAt(tree, path);
  return value === undefined ? null : { value };
}
