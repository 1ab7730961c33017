import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The commit that is checked out, or `BUILD_COMMIT` when an image is built without the repository. */
function commitOf(root) {
  if (process.env.BUILD_COMMIT) return process.env.BUILD_COMMIT;
  if (!existsSync(join(root, '.git'))) return undefined;
  try {
    const options = { cwd: root, encoding: 'utf8', timeout: 10_000, stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', ['rev-parse', 'HEAD'], options).trim();
  } catch {
    return undefined;
  }
}

/** Writes `dist/build.json`: version, time and commit of the build. The commit is left out when it is not known. */
export function stampBuild(root) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const stamp = { built_at: new Date().toISOString(), version, commit: commitOf(root) };
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(join(root, 'dist', 'build.json'), `${JSON.stringify(stamp, null, 2)}\n`);
}
