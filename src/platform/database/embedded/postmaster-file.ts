import { readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { codeOf } from './embedded-postgres.error.js';
import { commandFromPs, processStart } from './process-facts.js';

/** What a server writes about itself into `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number;
  readonly socketDirectory: string;
  /** `starting`, `ready` or `stopping`; empty at first. */
  readonly status: string;
}

/** The server that runs on this cluster. Undefined when the file is absent or unfinished, or names another process. */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const noted = await readPostmasterFile(cluster);
  return noted && (await isPostmaster(noted.pid, cluster)) ? noted : undefined;
}

async function readPostmasterFile(cluster: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, socketDirectory: lines[4] ?? '', status: lines[7] ?? '' };
}

/** Pids are reused, so a pid counts only when its process is a postgres that runs in this folder. */
export async function isPostmaster(pid: number, cluster: string): Promise<boolean> {
  if (processStart(pid) === undefined) return false;
  if (process.platform !== 'linux') return commandNames(() => commandFromPs(pid), cluster);
  try {
    const [there, here] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(cluster)]);
    const name = (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
    return name === 'postgres' && there.dev === here.dev && there.ino === here.ino;
  } catch (error) {
    if (codeOf(error) !== 'EACCES') return false;
    // Without the right to trace another user's process, its command line has to do.
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return commandNames(() => command.replaceAll('\0', ' '), cluster);
  }
}

function commandNames(read: () => string, cluster: string): boolean {
  try {
    const command = read();
    return basename(command.split(' -D ')[0] ?? '') === 'postgres' && command.includes(` -D ${cluster} `);
  } catch {
    return false;
  }
}

/**
 * Removes the pid files of a dead server when another program now has their pid: a new server would take that program
 * for a running server. Files whose pid no process has are left to the server, which looks for orphans first.
 */
export async function removeStalePidFiles(cluster: string, socketFile: string): Promise<void> {
  for (const file of [join(cluster, 'postmaster.pid'), `${socketFile}.lock`]) {
    const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
    if (!Number.isSafeInteger(pid) || !isAlive(pid)) continue;
    if (!(await isPostmaster(pid, cluster))) await rm(file, { force: true });
  }
}

/** Like the server itself: a zombie counts as alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
