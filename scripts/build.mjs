// Usage: node scripts/build.mjs [--if-stale]
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { cleanOutput } from './clean-output.mjs';
import { buildState } from './freshness.mjs';
import { stampBuild } from './stamp-build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const nestCli = findNestCli();

/** A production install does not have it. */
function findNestCli() {
  try {
    return fileURLToPath(import.meta.resolve('@nestjs/cli/bin/nest.js'));
  } catch {
    return undefined;
  }
}

async function build() {
  cleanOutput(root);
  const compiled = spawnSync(process.execPath, [nestCli, 'build'], { cwd: root, stdio: 'inherit' });
  if (compiled.status !== 0) return compiled.status ?? 1;
  // Imported only here: a production install has neither compiler nor bundler.
  const { bundle } = await import('./bundle.mjs');
  const { buildConsole } = await import('./console.mjs');
  await Promise.all([bundle(root), buildConsole(root)]);
  const { buildClient, isClientStale } = await import('./build-client.mjs');
  const client = (await isClientStale(root)) ? await buildClient(root) : 0;
  if (client !== 0) return client;
  stampBuild(root);
  return 0;
}

async function main() {
  const state = buildState(root);
  if (process.argv.includes('--if-stale') && state === 'fresh') return 0;
  if (nestCli !== undefined) return build();
  if (state === 'absent') {
    process.stderr.write('Nothing is built and the compiler is not installed: run `npm ci`.\n');
    return 1;
  }
  process.stderr.write('The sources are newer than the build, but the compiler is not installed.\n');
  return process.argv.includes('--if-stale') ? 0 : 1;
}

process.exitCode = await main();
