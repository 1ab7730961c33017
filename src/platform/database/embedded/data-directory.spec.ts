import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataDirectory, openToOtherUsers } from './data-directory.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agd-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('a data directory is made for its owner alone; one that exists keeps its mode', async () => {
  const made = await openDataDirectory(join(folder, 'data'));
  expect([made.created, modeOf(made.path)]).toEqual([true, 0o700]);
  chmodSync(made.path, 0o750);
  const again = await openDataDirectory(join(folder, 'data'));
  expect([again.created, modeOf(again.path)]).toEqual([false, 0o750]);
});

test('it is named as it is without links, so that every process means the same', async () => {
  const { path } = await openDataDirectory(join(folder, 'data'));
  symlinkSync(path, join(folder, 'link'));
  expect((await openDataDirectory(join(folder, 'link'))).path).toBe(path);
});

test('the door is opened for passing through, not for looking around, and only where it is shut', async () => {
  const directory = await openDataDirectory(join(folder, 'data'));
  expect([await openToOtherUsers(directory), modeOf(directory.path)]).toEqual([0o700, 0o711]);
  chmodSync(directory.path, 0o755);
  expect([await openToOtherUsers(directory), modeOf(directory.path)]).toEqual([0o755, 0o755]);
});
