import { isSafePath, isTable } from '../../platform/settings/dotted-path.js';
import { redactionMarker } from '../../platform/settings/redaction.js';
import type { SettingsNode } from '../../platform/settings/settings-tree.js';

/** What is wrong with a value for a node, before the schema checks its type and bounds. */
export function problemOfValue(
  node: SettingsNode,
  parent: SettingsNode | undefined,
  value: unknown,
): string | undefined {
  if (parent?.kind === 'leaf') return 'is part of a value; set the whole value';
  if (holdsMarker(value)) return 'holds the redaction marker; send the real value or leave it out';
  if (hasUnsafeNames(value)) return 'holds a name that is not allowed';
  if (node.kind === 'leaf' || value === null) return undefined;
  if (!isTable(value)) return 'is a section; set its keys';
  const isEmptyThing = parent?.kind === 'collection' && Object.keys(value).length === 0;
  return isEmptyThing ? 'needs at least one of its keys' : undefined;
}

/** A caller who sends back what GET showed would replace the secret by the marker. */
function holdsMarker(value: unknown): boolean {
  return someParts(value, (_, part) => typeof part === 'string' && part.trim() === redactionMarker);
}

function hasUnsafeNames(value: unknown): boolean {
  return someParts(value, (name) => name !== undefined && !isSafePath([name]));
}

/** Whether the predicate holds for the value or a part of it, at any depth. */
function someParts(
  value: unknown,
  holds: (name: string | undefined, part: unknown) => boolean,
  name?: string,
): boolean {
  if (holds(name, value)) return true;
  if (Array.isArray(value)) return value.some((item) => someParts(item, holds));
  return isTable(value) && Object.entries(value).some(([key, item]) => someParts(item, holds, key));
}
