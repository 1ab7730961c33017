// Usage: node scripts/test-coverage.mjs [arguments of jest]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const jest = fileURLToPath(import.meta.resolve('jest/bin/jest'));
const counted = mkdtempSync(join(tmpdir(), 'branches-'));

/** Node hands NODE_V8_COVERAGE on to everything that it starts: gateways, commands and threads count too. */
const { status } = spawnSync(
  process.execPath,
  [jest, '--config', 'jest.coverage.config.cjs', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, NODE_V8_COVERAGE: counted } },
);
rmSync(counted, { recursive: true, force: true });
process.exitCode = status ?? 1;
