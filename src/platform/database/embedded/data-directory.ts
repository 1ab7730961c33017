import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, chown, lstat, mkdir, realpath, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, EmbeddedPostgresError, messageOf } from './embedded-postgres.error.js';

/** The paths below the data directory. */
export interface DataDirectory {
  /** Absolute and without symbolic links, so that every process uses the same path. */
  readonly path: string;
  /** Whether it was created just now, so that we may set its mode. */
  readonly created: boolean;
  readonly cluster: string;
  readonly lockFile: string;
  readonly logFile: string;
}

/** Makes the data directory with mode 0700 when it is absent; one that exists keeps its mode. */
export async function openDataDirectory(requested: string): Promise<DataDirectory> {
  const absolute = resolve(requested);
  try {
    const created = await makeDirectory(absolute);
    const path = await realpath(absolute);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return {
      path,
      created,
      cluster: join(path, 'postgres'),
      lockFile: join(path, 'postgres.lock'),
      logFile: join(path, 'postgres.log'),
    };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `the data directory ${absolute} cannot be used (${messageOf(cause)}); name one that this user may write in GATEWAY_DATA_DIR.`,
      { cause },
    );
  }
}

/** Lets the server's user enter the folder, but not list it, on the way to its own. Returns the mode before. */
export async function openToOtherUsers({ path }: DataDirectory): Promise<number> {
  const mode = (await stat(path)).mode & 0o777;
  if ((mode & 0o011) !== 0o011) await chmod(path, mode | 0o011);
  return mode;
}

async function makeDirectory(path: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Distinguishes servers in one folder. Each server has its own folder, so one number is enough. */
export const socketPort = 5432;

/** The longest path of a socket that the kernel takes, without the closing NUL. */
const maxSocketPathLength = process.platform === 'linux' ? 107 : 103;

export function socketFile(directory: string): string {
  return join(directory, `.s.PGSQL.${socketPort}`);
}

/** The cluster's own 0700 folder. Where its path is too long, a short one that depends only on the cluster. */
export function socketDirectoryFor(cluster: string, owner: number): string {
  if (Buffer.byteLength(socketFile(cluster)) <= maxSocketPathLength) return cluster;
  const mark = createHash('sha256').update(cluster).digest('hex').slice(0, 16);
  return `/tmp/agent-gateway-${owner}-${mark}`;
}

/**
 * Creates a short socket folder. In `/tmp` anyone could have created it first, so one that belongs to another user is
 * refused.
 */
export async function makeSocketDirectory(directory: string, cluster: string, owner: number): Promise<void> {
  if (directory === cluster) return;
  try {
    await mkdir(directory, { mode: 0o700 });
    await chown(directory, owner, -1);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') {
      throw new EmbeddedPostgresError(
        `the path of ${cluster} is too long for a socket and ${directory} cannot be made (${codeOf(cause) ?? 'unknown'}); name a shorter GATEWAY_DATA_DIR.`,
        { cause },
      );
    }
  }
  const found = await lstat(directory);
  if (!found.isDirectory() || found.uid !== owner || (found.mode & 0o077) !== 0) {
    throw new EmbeddedPostgresError(
      `${directory} is not a private folder of user ${owner}; remove it, or name a shorter GATEWAY_DATA_DIR.`,
    );
  }
}

export async function removeSocketDirectory(directory: string, cluster: string): Promise<void> {
  // Fails while something lies in it; then it has to stay.
  if (directory !== cluster) await rmdir(directory).catch(() => undefined);
}
