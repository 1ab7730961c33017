import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface BuildInfo {
  readonly version: string;
  readonly builtAt: Date;
}

/** What the build stamped into `dist/build.json`; run from sources, the version of the package and the age of this file. */
export function readBuildInfo(): BuildInfo {
  const here = fileURLToPath(import.meta.url);
  const root = join(dirname(here), '../../..');
  const stamped = textsIn(join(root, 'build.json'));
  const builtAt = stamped.get('built_at');
  const version = stamped.get('version') ?? textsIn(join(root, 'package.json')).get('version') ?? 'unknown';
  return { version, builtAt: builtAt === undefined ? statSync(here).mtime : new Date(builtAt) };
}

/** The text values of a JSON file; none when there is no such file. */
function textsIn(path: string): Map<string, string> {
  try {
    const entries = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>);
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    return new Map();
  }
}
