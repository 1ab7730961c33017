import type { OverrideContent, OverrideEdit } from '../../platform/settings/candidate-builder.js';
import { isSafePath, readAt } from '../../platform/settings/dotted-path.js';
import { redactedTree } from '../../platform/settings/redaction.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';

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
  const path = key.split('.');
  const value = isSafePath(path) ? readAt(tree, path) : undefined;
  return value === undefined ? null : { value };
}
