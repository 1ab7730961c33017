import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostmaster, removeStalePidFiles } from './postmaster-file.js';

let cluster: string;
let elsewhere: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  cluster = mkdtempSync(join(tmpdir(), 'agp-'));
  elsewhere = mkdtempSync(join(tmpdir(), 'agp-'));
});
afterEach(async () => {
  await endChildren();
  rmSync(cluster, { recursive: true });
  rmSync(elsewhere, { recursive: true });
});

async function endChildren(): Promise<void> {
  for (const child of children.splice(0)) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
}

/** A program that goes by `name`, as the server shows itself to others: by its name and its folder. */
async function run(name: string, cwd: string): Promise<number> {
  const programs = join(elsewhere, 'bin');
  mkdirSync(programs, { recursive: true });
  copyFileSync('/bin/sleep', join(programs, name));
  const child = spawn(join(programs, name), ['60'], { cwd, stdio: 'ignore' });
  children.push(child);
  await new Promise((resolve) => child.once('spawn', resolve));
  return child.pid ?? 0;
}

function note(pid: number, status = 'ready   '): void {
  const lines = [pid, cluster, 1_700_000_000, 5432, cluster, '', '  1234  5', status, ''];
  writeFileSync(join(cluster, 'postmaster.pid'), lines.join('\n'));
}

const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('findPostmaster', () => {
  it('finds the server that runs in the folder', async () => {
    const pid = await run('postgres', cluster);
    note(pid);
    expect(await findPostmaster(cluster)).toEqual({ pid, socketDirectory: cluster, status: 'ready' });
  });

  it('does not mistake another program for it that runs in the folder', async () => {
    note(await run('sleeper', cluster));
    expect(await findPostmaster(cluster)).toBeUndefined();
  });

  it('does not mistake the server of another folder for it', async () => {
    note(await run('postgres', elsewhere));
    expect(await findPostmaster(cluster)).toBeUndefined();
  });

  it('finds nothing without the file, and nothing in a half-written one', async () => {
    expect(await findPostmaster(cluster)).toBeUndefined();
    writeFileSync(join(cluster, 'postmaster.pid'), '');
    expect(await findPostmaster(cluster)).toBeUndefined();
  });

  it('does not find a server that has ended', async () => {
    note(await run('postgres', cluster));
    expect(await findPostmaster(cluster)).toBeDefined();
    await endChildren();
    expect(await findPostmaster(cluster)).toBeUndefined();
  });
});

onLinux('removeStalePidFiles', () => {
  it('removes files whose pid another program now has, and keeps those of the server itself', async () => {
    const socket = join(cluster, '.s.PGSQL.5432');
    writeFileSync(`${socket}.lock`, `${await run('sleeper', cluster)}\n`);
    note(await run('postgres', cluster));
    await removeStalePidFiles(cluster, socket);
    expect(existsSync(`${socket}.lock`)).toBe(false);
    expect(existsSync(join(cluster, 'postmaster.pid'))).toBe(true);
  });

  it('leaves files whose pid no process has to the server, which looks for orphans first', async () => {
    note(2 ** 22 + 1);
    await removeStalePidFiles(cluster, join(cluster, '.s.PGSQL.5432'));
    expect(existsSync(join(cluster, 'postmaster.pid'))).toBe(true);
  });
});
