import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pidScope, processStart } from './process-facts.js';
import { StartLock } from './start-lock.js';

const soon = (ms = 5_000) => AbortSignal.timeout(ms);
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agl-'));
  path = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

function leaveBehind(holder: Record<string, unknown> | string, ageMs = 0): void {
  writeFileSync(path, typeof holder === 'string' ? holder : JSON.stringify(holder));
  const when = new Date(Date.now() - ageMs);
  utimesSync(path, when, when);
}

describe('StartLock', () => {
  it('lets one holder in at a time', async () => {
    let inside = 0;
    let most = 0;
    const turn = async () => {
      const lock = await StartLock.acquire(path, soon());
      most = Math.max(most, ++inside);
      await sleep(5);
      inside--;
      lock.release();
    };
    await Promise.all(Array.from({ length: 12 }, turn));
    expect(most).toBe(1);
    expect(existsSync(path)).toBe(false);
  });

  it('stops waiting when the signal is aborted, and leaves the holder its lock', async () => {
    const held = await StartLock.acquire(path, soon());
    await expect(StartLock.acquire(path, soon(60))).rejects.toThrow(/aborted/i);
    expect(existsSync(path)).toBe(true);
    held.release();
  });

  it('takes over from a process that is gone', async () => {
    leaveBehind({ pid: 2 ** 22 + 1, started: '1', scope: pidScope() });
    (await StartLock.acquire(path, soon(1_000))).release();
  });

  it('takes over when another process now has the pid of the dead holder', async () => {
    leaveBehind({ pid: process.pid, started: 'earlier', scope: pidScope() });
    (await StartLock.acquire(path, soon(1_000))).release();
  });

  it('does not take over from a live process, however long it takes', async () => {
    leaveBehind({ pid: process.ppid, started: processStart(process.ppid), scope: pidScope() }, 3_600_000);
    await expect(StartLock.acquire(path, soon(100))).rejects.toThrow(/aborted/i);
  });

  it('judges a holder in another container by how long it has been silent', async () => {
    const stranger = { pid: process.pid, started: 'whenever', scope: 'another container' };
    leaveBehind(stranger, 1_000);
    await expect(StartLock.acquire(path, soon(100))).rejects.toThrow(/aborted/i);
    leaveBehind(stranger, 60_000);
    (await StartLock.acquire(path, soon(1_000))).release();
  });

  it('takes over a lock whose maker never finished writing it', async () => {
    leaveBehind('', 60_000);
    (await StartLock.acquire(path, soon(1_000))).release();
  });

  it('does not remove the lock of the process that took over', async () => {
    const lost = await StartLock.acquire(path, soon());
    leaveBehind({ pid: process.ppid, started: processStart(process.ppid), scope: pidScope() });
    lost.release();
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.ppid });
  });

  it('breaks no lock while another process does, unless that one died meanwhile', async () => {
    leaveBehind('', 60_000);
    const guard = `${path}.break`;
    writeFileSync(guard, '1');
    await expect(StartLock.acquire(path, soon(60))).rejects.toThrow(/aborted/i);
    const longAgo = new Date(Date.now() - 6000);
    utimesSync(guard, longAgo, longAgo);
    (await StartLock.acquire(path, soon(1_000))).release();
    expect(existsSync(guard)).toBe(false);
  });

  it('cannot be taken where no file can be created', async () => {
    const nowhere = join(folder, 'absent', 'lock');
    await expect(StartLock.acquire(nowhere, soon())).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
