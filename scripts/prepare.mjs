// Runs after `npm ci` and `npm install`: builds, so that `npx agent-gateway` and `npm start` work at once.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');

/**
 * npm does not link the command of a checkout itself. Without the link, npx would install the checkout into its
 * cache.
 */
function linkCommand() {
  if (process.platform === 'win32') return;
  const link = join(modules, '.bin', 'agent-gateway');
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) rmSync(link);
  symlinkSync(join('..', '..', 'bin', 'agent-gateway.js'), link);
}

/** Git hooks are for a developer's checkout: not for an archive, a CI run or a production install. */
function installHooks() {
  const lefthook = join(modules, 'lefthook', 'bin', 'index.js');
  if (process.env.CI || !existsSync(join(root, '.git')) || !existsSync(lefthook)) return;
  spawnSync(process.execPath, [lefthook, 'install'], { cwd: root, stdio: 'ignore', timeout: 20_000 });
}

function isDevelopmentInstall() {
  return existsSync(join(modules, '@nestjs', 'cli')) && existsSync(join(root, 'src'));
}

function attempt(step) {
  try {
    step();
  } catch (error) {
    process.stderr.write(`prepare: ${error.message}\n`);
  }
}

/** npx prepares a checkout when it is asked for its own command. The existing build must then stay as it is. */
function isAskedByNpx() {
  return process.env.npm_command === 'exec' && existsSync(join(root, 'dist', 'build.json'));
}

/** Packing builds by itself, and only when the build is stale. */
function isPacking() {
  return process.env.npm_command === 'pack' || process.env.npm_command === 'publish';
}

if (existsSync(join(modules, '.bin'))) attempt(linkCommand);
if (isDevelopmentInstall() && !isAskedByNpx() && !isPacking()) {
  attempt(installHooks);
  const built = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' });
  process.exitCode = built.status ?? 1;
}
