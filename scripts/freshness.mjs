import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Files and folders whose change makes the build output stale. Specs are not part of the build. */
const inputs = [
  'src',
  'ormconfig.ts',
  'console/src',
  'bin/bundle-loader.cjs',
  'scripts/bundle-scripts.mjs',
  'scripts/bundle.mjs',
  'scripts/console.mjs',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'nest-cli.json',
];

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * The newest modification time below `path`, in milliseconds. A folder's own time shows that files were removed from
 * it.
 */
function newestChange(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return path.endsWith('.spec.ts') ? 0 : stats.mtimeMs;
  return readdirSync(path).reduce(
    (newest, name) => Math.max(newest, newestChange(join(path, name))),
    stats.mtimeMs,
  );
}

/** `absent`, `stale` or `fresh`. The stamp is written last, so a failed build is never fresh. */
export function buildState(root) {
  const builtAt = changedAt(join(root, 'dist', 'build.json'));
  if (builtAt === 0) return 'absent';
  const hasSources = changedAt(join(root, 'src')) > 0;
  if (!hasSources) return 'fresh';
  return inputs.some((input) => newestChange(join(root, input)) > builtAt) ? 'stale' : 'fresh';
}
