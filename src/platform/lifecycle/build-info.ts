import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../common/package-root.js';

export interface BuildInfo {
  readonly version: string;
  readonly builtAt: Date;
}

/** What the build wrote into `dist/build.json`; without a build, the package's version and the age of its file. */
export function readBuildInfo(): BuildInfo {
  const manifest = join(packageRoot(), 'package.json');
  const stamped = textsIn(join(packageRoot(), 'dist', 'build.json'));
  const builtAt = stamped.get('built_at');
  const version = stamped.get('version') ?? textsIn(manifest).get('version') ?? 'unknown';
  return { version, builtAt: builtAt === undefined ? statSync(manifest).mtime : new Date(builtAt) };
}

/** The text values of a JSON file; none when the file does not exist. */
function textsIn(path: string): Map<string, string> {
  try {
    const entries = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>);
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    return new Map();
  }
}
