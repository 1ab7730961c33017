import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectCluster } from './cluster-check.js';

let folder: string;
let cluster: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agc-'));
  cluster = join(folder, 'postgres');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('there is no cluster where nothing is, nor in an empty folder', async () => {
  await expect(inspectCluster(cluster, 18)).resolves.toBeUndefined();
  mkdirSync(cluster);
  await expect(inspectCluster(cluster, 18)).resolves.toBeUndefined();
});

test('a cluster of this version belongs to whoever owns its files', async () => {
  mkdirSync(cluster);
  writeFileSync(join(cluster, 'PG_VERSION'), '18\n');
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  await expect(inspectCluster(cluster, 18)).resolves.toEqual({ uid, gid });
});

test('a file in its place is not touched, and named', async () => {
  writeFileSync(cluster, 'dear');
  await expect(inspectCluster(cluster, 18)).rejects.toThrow(`${cluster} is not a folder; move it away.`);
});

test('what cannot be looked at is not taken for a place where nothing is', async () => {
  writeFileSync(cluster, 'dear');
  await expect(inspectCluster(join(cluster, 'below'), 18)).rejects.toMatchObject({ code: 'ENOTDIR' });
  rmSync(cluster);
  mkdirSync(join(cluster, 'PG_VERSION'), { recursive: true });
  await expect(inspectCluster(cluster, 18)).rejects.toMatchObject({ code: 'EISDIR' });
});

test("another user's files that cannot be read are theirs to start", async () => {
  mkdirSync(cluster);
  writeFileSync(join(cluster, 'PG_VERSION'), '15\n');
  const denied = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  // Root may read everything, so that it takes another's word for it.
  for (const way of ['readdir', 'readFile'] as const) jest.spyOn(fs, way).mockRejectedValue(denied);
  await expect(inspectCluster(cluster, 18)).resolves.toMatchObject({ uid: process.geteuid?.() });
  jest.restoreAllMocks();
});
