import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, EmbeddedPostgresError } from './embedded-postgres.error.js';

export interface ClusterFacts {
  readonly uid: number;
  readonly gid: number;
}

/** Who owns the cluster's files; undefined when there is none yet. Rejects when these files are not for us to start. */
export async function inspectCluster(cluster: string, major: number): Promise<ClusterFacts | undefined> {
  const found = await stat(cluster).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined || (await isEmpty(cluster))) return undefined;
  await requireVersion(cluster, major);
  return { uid: found.uid, gid: found.gid };
}

/** Whether a data directory holds the files of an embedded server. Looks only; what cannot be looked at counts as there. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  try {
    return (await readdir(join(dataDir, 'postgres'))).length > 0;
  } catch (error) {
    return codeOf(error) !== 'ENOENT';
  }
}

async function isEmpty(cluster: string): Promise<boolean> {
  try {
    return (await readdir(cluster)).length === 0;
  } catch (cause) {
    // Another user's files: the check of the owner says so better.
    if (codeOf(cause) === 'EACCES') return false;
    throw new EmbeddedPostgresError(`${cluster} is not a folder; move it away.`, { cause });
  }
}

async function requireVersion(cluster: string, major: number): Promise<void> {
  try {
    const version = (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim();
    if (version === String(major)) return;
    throw new EmbeddedPostgresError(
      `the files in ${cluster} were made by PostgreSQL ${version}, this is PostgreSQL ${major}; dump them with version ${version} and restore, or name another folder in GATEWAY_DATA_DIR.`,
    );
  } catch (error) {
    if (codeOf(error) === 'EACCES') return;
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new EmbeddedPostgresError(
      `${cluster} holds files but is no PostgreSQL cluster (PG_VERSION is missing); restore it or move it away.`,
      { cause: error },
    );
  }
}
