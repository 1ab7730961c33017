import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileWatch } from './configuration-watch.service.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watch-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Two polls, since content has to stay the same for one of them. */
async function looks(watch: FileWatch): Promise<boolean> {
  await watch.hasNews();
  return watch.hasNews();
}

test('new content is reported once, after it has stayed the same for a poll', async () => {
  const path = join(folder, 'gateway.toml');
  await writeFile(path, 'one');
  const watch = new FileWatch(() => path);
  expect(await watch.hasNews()).toBe(false);
  expect(await watch.hasNews()).toBe(true);
  watch.settle();
  expect(await looks(watch)).toBe(false);
  await writeFile(path, '');
  expect(await watch.hasNews()).toBe(false);
  await writeFile(path, 'two');
  expect(await watch.hasNews()).toBe(false);
  expect(await watch.hasNews()).toBe(true);
});

test('content that is still changing is reported again', async () => {
  const path = join(folder, 'gateway.toml');
  await writeFile(path, 'one');
  const watch = new FileWatch(() => path);
  expect(await looks(watch)).toBe(true);
  expect(await watch.hasNews()).toBe(true);
});

test('a ConfigMap whose data folder is swapped by a symbolic link is noticed', async () => {
  const mount = join(folder, 'mount');
  for (const version of ['one', 'two']) {
    await mkdir(join(mount, `..${version}`), { recursive: true });
    await writeFile(join(mount, `..${version}`, 'gateway.toml'), version);
  }
  await symlink('..one', join(mount, '..data'));
  await symlink('..data/gateway.toml', join(mount, 'gateway.toml'));
  const watch = new FileWatch(() => join(mount, 'gateway.toml'));
  expect(await looks(watch)).toBe(true);
  watch.settle();
  await symlink('..two', join(mount, '..data_tmp'));
  await rename(join(mount, '..data_tmp'), join(mount, '..data'));
  expect(await looks(watch)).toBe(true);
});

test('a file that disappears, appears or is absent is handled', async () => {
  const path = join(folder, 'gateway.toml');
  const named: { path?: string } = {};
  const watch = new FileWatch(() => named.path);
  await looks(watch);
  watch.settle();
  named.path = path;
  expect(await looks(watch)).toBe(true);
  watch.settle();
  await writeFile(path, 'one');
  expect(await looks(watch)).toBe(true);
  watch.settle();
  await unlink(path);
  expect(await looks(watch)).toBe(true);
});
