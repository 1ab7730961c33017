import type { z } from 'zod';
import type { Path } from './dotted-path.js';
import { nearestKey } from './nearest-key.js';
import { nodeAt } from './settings-tree.js';
import { typeText } from './type-text.js';

interface IssueText {
  readonly path: Path;
  readonly message: string;
}

const maxShownLength = 64;

/** What is wrong and what is allowed, for each key, without the value. */
export function describeIssue(issue: z.core.$ZodIssue): readonly IssueText[] {
  const path = issue.path.map(String);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => unknownKey([...path, name]));
    case 'custom':
      return [{ path, message: issue.message }];
    case 'invalid_key':
      return [{ path, message: `the name is not allowed: ${issue.issues[0]?.message ?? issue.message}` }];
    default:
      return [{ path, message: allowed(path, issue.message) }];
  }
}

function unknownKey(path: Path): IssueText {
  const nearest = nearestKey(path);
  const shown = path.map((name) =>
    name.length > maxShownLength ? `${name.slice(0, maxShownLength)}…` : name,
  );
  return {
    path: shown,
    message: nearest === undefined ? 'unknown key' : `unknown key; the nearest is ${nearest}`,
  };
}

function allowed(path: Path, fallback: string): string {
  const node = nodeAt(path);
  return node === undefined ? fallback : `expected ${typeText(node.schema)}`;
}
