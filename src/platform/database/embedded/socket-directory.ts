import { createHash } from 'node:crypto';
import { chown, lstat, mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, EmbeddedPostgresError } from './embedded-postgres.error.js';

/** Tells servers of one folder apart; each has its own folder, so one number does for all. */
export const socketPort = 5432;

/** What the kernel takes as a socket's path, without the closing NUL. */
const maxSocketPathLength = process.platform === 'linux' ? 107 : 103;

export function socketFile(directory: string): string {
  return join(directory, `.s.PGSQL.${socketPort}`);
}

/** The cluster's own 0700 folder, or where its path is too long a short one that is always the same for this cluster. */
export function socketDirectoryFor(cluster: string, owner: number): string {
  if (Buffer.byteLength(socketFile(cluster)) <= maxSocketPathLength) return cluster;
  const mark = createHash('sha256').update(cluster).digest('hex').slice(0, 16);
  return `/tmp/agent-gateway-${owner}-${mark}`;
}

/** Makes a short socket folder; in `/tmp` anybody could have been faster, so that one of another's making is refused. */
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
  // Fails while something lies in it, and then it must stay.
  if (directory !== cluster) await rmdir(directory).catch(() => undefined);
}
