import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogs } from '../../logging/logger.js';
import { ClusterInitializer } from './cluster-initializer.js';
import { openDataDirectory } from './data-directory.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agi-'));
  chmodSync(folder, 0o755);
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes a cluster with an initdb that does this. */
async function initialize(script: string): Promise<void> {
  const initdb = join(folder, 'initdb');
  writeFileSync(initdb, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const directory = await openDataDirectory(join(folder, 'data'));
  const binaries = { initdb, postgres: '/absent', major: 18 };
  await new ClusterInitializer(directory, binaries, silentLogs.for('test')).run();
}

test('what initdb said last is told, and nothing half-made is left', async () => {
  await expect(initialize('echo "no space left on device" >&2; exit 1')).rejects.toThrow(
    /initdb failed: no space left on device/,
  );
  expect(readdirSync(join(folder, 'data'))).toEqual([]);
});

test('where no user may make the files, each is named with its reason', async () => {
  jest.spyOn(process, 'geteuid').mockReturnValue(0);
  const made = initialize('echo "could not change permissions: Permission denied" >&2; exit 1');
  // Whoever is not root may not hand a folder to others either.
  await expect(made).rejects.toThrow(/no user may make the database files[\s\S]*as nobody: /);
  expect(existsSync(join(folder, 'data/postgres'))).toBe(false);
});
