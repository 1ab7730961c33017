import type { z } from 'zod';
import type { Path } from './dotted-path.js';
import { nearestKey } from './nearest-key.js';
import { nodeAt } from './settings-tree.js';
import { typeInWords } from './type-words.js';

interface IssueInWords {
  readonly path: Path;
  readonly message: string;
}

const longestShown = 64;

/** What is wrong and what is allowed, per key, without the value. */
export function describeIssue(issue: z.core.$ZodIssue): readonly IssueInWords[] {
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

function unknownKey(path: Path): IssueInWords {
  const nearest = nearestKey(path);
  const shown = path.map((name) => (name.length > longestShown ? `${name.slice(0, longestShown)}…` : name));
  return {
    path: shown,
    message: nearest === undefined ? 'unknown key' : `unknown key; the nearest is ${nearest}`,
  };
}

function allowed(path: Path, fallback: string): string {
  const node = nodeAt(path);
  return node === undefined ? fallback : `expected ${typeInWords(node.schema)}`;
}
