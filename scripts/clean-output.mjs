import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const outputSuffix = /\.js(\.map)?$/;
const buildInfos = ['.build.tsbuildinfo', '.bench.tsbuildinfo'];

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * Removes outputs whose source is gone. Also removes the compiler's incremental state when an output that it lists is
 * missing.
 */
export function cleanOutput(root) {
  const dist = join(root, 'dist');
  const ours = (name) => outputSuffix.test(name) && !name.startsWith(join(dist, 'console'));
  for (const file of filesBelow(dist).filter(ours)) {
    const source = join(root, relative(dist, file).replace(outputSuffix, '.ts'));
    if (!existsSync(source)) rmSync(file, { force: true });
  }
  const sources = filesBelow(join(root, 'src')).filter((name) => /(?<!\.spec|\.d)\.ts$/.test(name));
  const complete = sources.every((name) =>
    existsSync(join(dist, relative(root, name).replace(/\.ts$/, '.js'))),
  );
  if (complete) return;
  for (const buildInfo of buildInfos) rmSync(join(dist, buildInfo), { force: true });
}
