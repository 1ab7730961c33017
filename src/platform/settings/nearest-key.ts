import { formatPath, type Path } from './dotted-path.js';
import { childNodes, keyOf, leafNodes, nodeAt, type SettingsNode, settingsRoot } from './settings-tree.js';

const maxComparedLength = 128;

/** The known key that an unknown one probably stands for; `undefined` when none is close. */
export function nearestKey(path: Path, root: SettingsNode = settingsRoot()): string | undefined {
  return nearestSibling(path, root) ?? nearestAnywhere(path, root);
}

/** What is wrong with an unknown key, given what it probably stands for. */
export function unknownKeyText(nearest: string | undefined): string {
  return nearest === undefined ? 'unknown key' : `unknown key; the nearest is ${nearest}`;
}

/** The candidate with the smallest edit distance, if that is at most two or a third of its length. */
export function nearestMatch(word: string, candidates: readonly string[]): string | undefined {
  let best: { candidate: string; edits: number } | undefined;
  for (const candidate of candidates) {
    // A missing unit, as in `max_wait` for `max_wait_ms`, counts as one edit.
    const edits = candidate.startsWith(`${word}_`) ? 1 : editDistance(word, candidate);
    if (edits <= Math.max(2, candidate.length / 3) && edits < (best?.edits ?? Infinity))
      best = { candidate, edits };
  }
  return best?.candidate;
}

/** Levenshtein distance; Infinity when a word is longer than 128 characters. */
export function editDistance(one: string, other: string): number {
  if (one.length > maxComparedLength || other.length > maxComparedLength) return Infinity;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** For a path whose first wrong name is in a section: the nearest name in that section. */
function nearestSibling(path: Path, root: SettingsNode): string | undefined {
  const depth = path.findIndex((_, index) => nodeAt(path.slice(0, index + 1), root) === undefined);
  const parent = depth < 0 ? undefined : nodeAt(path.slice(0, depth), root);
  if (parent?.kind !== 'section') return undefined;
  const name = nearestMatch(
    path[depth] ?? '',
    childNodes(parent).map((child) => child.path.at(-1) ?? ''),
  );
  if (name === undefined) return undefined;
  const repaired = [...path.slice(0, depth), name];
  const whole = [...repaired, ...path.slice(depth + 1)];
  return formatPath(nodeAt(whole, root) ? whole : repaired);
}

/** For a key in the wrong section: the same name elsewhere, otherwise the nearest whole path. */
function nearestAnywhere(path: Path, root: SettingsNode): string | undefined {
  const leaves = leafNodes(root);
  const sameName = leaves.filter((leaf) => leaf.path.at(-1) === path.at(-1));
  if (sameName.length === 1 && sameName[0]) return keyOf(sameName[0]);
  return nearestMatch(formatPath(path), leaves.map(keyOf));
}
