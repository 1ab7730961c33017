import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogs } from '../../logging/logger.js';
import { ClusterInitializer, inspectCluster } from './cluster-files.js';
import { openDataDirectory } from './data-directory.js';

let folder: string;
let cluster: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agc-'));
  cluster = join(folder, 'postgres');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('an absent or empty folder is no cluster', async () => {
  await expect(inspectCluster(cluster, 18)).resolves.toBeUndefined();
  mkdirSync(cluster);
  await expect(inspectCluster(cluster, 18)).resolves.toBeUndefined();
});

test('a cluster of this version belongs to the owner of its files', async () => {
  mkdirSync(cluster);
  writeFileSync(join(cluster, 'PG_VERSION'), '18\n');
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  await expect(inspectCluster(cluster, 18)).resolves.toEqual({ uid, gid });
});

test('a file where the cluster should be is left alone, and named in the error', async () => {
  writeFileSync(cluster, 'dear');
  await expect(inspectCluster(cluster, 18)).rejects.toThrow(`${cluster} is not a folder; move it away.`);
});

test('a folder that cannot be read does not count as absent', async () => {
  writeFileSync(cluster, 'dear');
  await expect(inspectCluster(join(cluster, 'below'), 18)).rejects.toMatchObject({ code: 'ENOTDIR' });
  rmSync(cluster);
  mkdirSync(join(cluster, 'PG_VERSION'), { recursive: true });
  await expect(inspectCluster(cluster, 18)).rejects.toMatchObject({ code: 'EISDIR' });
});

test('unreadable files of another user are left for that user to start', async () => {
  mkdirSync(cluster);
  writeFileSync(join(cluster, 'PG_VERSION'), '15\n');
  const denied = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  // Root may read everything, so that it takes another's word for it.
  for (const way of ['readdir', 'readFile'] as const) jest.spyOn(fs, way).mockRejectedValue(denied);
  await expect(inspectCluster(cluster, 18)).resolves.toMatchObject({ uid: process.geteuid?.() });
  jest.restoreAllMocks();
});

describe('cluster initializer', () => {
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

  test('an error of initdb is passed on, and nothing half-made is left', async () => {
    await expect(initialize('echo "no space left on device" >&2; exit 1')).rejects.toThrow(
      /initdb failed: no space left on device/,
    );
    expect(readdirSync(join(folder, 'data'))).toEqual([]);
  });

  test('when no user may create the files, each user is named with the reason', async () => {
    jest.spyOn(process, 'geteuid').mockReturnValue(0);
    const made = initialize('echo "could not change permissions: Permission denied" >&2; exit 1');
    // Whoever is not root may not hand a folder to others either.
    await expect(made).rejects.toThrow(/no user may make the database files[\s\S]*as nobody: /);
    expect(existsSync(join(folder, 'data/postgres'))).toBe(false);
  });
});
