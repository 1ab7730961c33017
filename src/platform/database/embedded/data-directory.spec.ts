import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  makeSocketDirectory,
  openDataDirectory,
  openToOtherUsers,
  socketDirectoryFor,
  socketFile,
} from './data-directory.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agd-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('a data directory is created for its owner alone; an existing one keeps its mode', async () => {
  const made = await openDataDirectory(join(folder, 'data'));
  expect([made.created, modeOf(made.path)]).toEqual([true, 0o700]);
  chmodSync(made.path, 0o750);
  const again = await openDataDirectory(join(folder, 'data'));
  expect([again.created, modeOf(again.path)]).toEqual([false, 0o750]);
});

test('its path is resolved without links, so that every process uses the same', async () => {
  const { path } = await openDataDirectory(join(folder, 'data'));
  symlinkSync(path, join(folder, 'link'));
  expect((await openDataDirectory(join(folder, 'link'))).path).toBe(path);
});

test('others get the right to enter but not to list the folder, and only where they cannot enter yet', async () => {
  const directory = await openDataDirectory(join(folder, 'data'));
  expect([await openToOtherUsers(directory), modeOf(directory.path)]).toEqual([0o700, 0o711]);
  chmodSync(directory.path, 0o755);
  expect([await openToOtherUsers(directory), modeOf(directory.path)]).toEqual([0o755, 0o755]);
});

const own = process.geteuid?.() ?? 0;
const tooLong = `/srv/${'x'.repeat(120)}/${process.pid}/postgres`;
const short = socketDirectoryFor(tooLong, own);

afterEach(() => rmSync(short, { recursive: true, force: true }));

describe('the folder of the socket', () => {
  it('is the cluster itself, up to the longest path that a socket can have', () => {
    const room = (process.platform === 'linux' ? 107 : 103) - socketFile('').length;
    const longest = `/${'x'.repeat(room - 2)}`;
    expect(socketDirectoryFor(longest, own)).toBe(longest);
    expect(socketDirectoryFor(`${longest}x`, own)).not.toBe(`${longest}x`);
    expect(socketDirectoryFor(`/${'é'.repeat(room / 2)}`, own)).toMatch(/^\/tmp\//);
  });

  it('is short, always the same for one cluster, and different for another', () => {
    expect(short).toBe(socketDirectoryFor(tooLong, own));
    expect(short).not.toBe(socketDirectoryFor(`${tooLong}2`, own));
    expect(Buffer.byteLength(socketFile(short))).toBeLessThan(70);
  });

  it('is created for its owner alone, and used again', async () => {
    await makeSocketDirectory(short, tooLong, own);
    await makeSocketDirectory(short, tooLong, own);
    expect(statSync(short).mode & 0o777).toBe(0o700);
  });

  it('is refused when others may enter it', async () => {
    mkdirSync(short);
    chmodSync(short, 0o755);
    await expect(makeSocketDirectory(short, tooLong, own)).rejects.toThrow(
      /not a private folder.*DATABASE_URL/,
    );
  });

  it('is refused when it is a link to another place', async () => {
    symlinkSync('/tmp', short);
    await expect(makeSocketDirectory(short, tooLong, own)).rejects.toThrow(/not a private folder/);
  });

  it('is refused when it belongs to another user', async () => {
    mkdirSync(short, { mode: 0o700 });
    await expect(makeSocketDirectory(short, tooLong, own + 1)).rejects.toThrow(/not a private folder/);
  });

  it('reports when it cannot be created', async () => {
    await expect(makeSocketDirectory('/absent/short', tooLong, own)).rejects.toThrow(
      /too long for a socket and \/absent\/short cannot be made \(ENOENT\); name a shorter/,
    );
  });
});
