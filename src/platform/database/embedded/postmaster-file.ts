import { readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { codeOf } from './embedded-postgres.error.js';
import { commandFromPs, processStart } from './process-facts.js';

/** What a server notes about itself in `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number;
  readonly socketDirectory: string;
  /** `starting`, `ready`, `stopping`; empty for the first moments. */
  readonly status: string;
}

/** The server that runs on this cluster. Undefined when the file is absent, unfinished, or names a process that is not it. */
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

/** Pids are reused: one counts only when its process is a postgres that runs in this very folder. */
export async function isPostmaster(pid: number, cluster: string): Promise<boolean> {
  if (processStart(pid) === undefined) return false;
  if (process.platform !== 'linux') return commandNames(() => commandFromPs(pid), cluster);
  try {
    const [there, here] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(cluster)]);
    const name = (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
    return name === 'postgres' && there.dev === here.dev && there.ino === here.ino;
  } catch (error) {
    if (codeOf(error) !== 'EACCES') return false;
    // Without the right to trace another user's process its command line must do.
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
 * Removes the pid files that a dead server left, when their pid now belongs to a stranger: the server itself would
 * take the stranger for a rival. Files of a pid that nobody has are left to the server, which looks for orphans first.
 */
export async function removeStalePidFiles(cluster: string, socketFile: string): Promise<void> {
  for (const file of [join(cluster, 'postmaster.pid'), `${socketFile}.lock`]) {
    const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
    if (!Number.isSafeInteger(pid) || !isAlive(pid)) continue;
    if (!(await isPostmaster(pid, cluster))) await rm(file, { force: true });
  }
}

/** As the server sees it: a zombie is alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
