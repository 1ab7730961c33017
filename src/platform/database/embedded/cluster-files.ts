import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from '../../logging/logger.js';
import { type DataDirectory, openToOtherUsers } from './data-directory.js';
import { codeOf, EmbeddedPostgresError, messageOf } from './embedded-postgres.error.js';
import type { ServerBinaries } from './server-binaries.js';
import {
  identitiesForNewCluster,
  isPermissionProblem,
  runServerCommand,
  type ServerIdentity,
  serverCommand,
} from './server-command.js';

export interface ClusterFacts {
  readonly uid: number;
  readonly gid: number;
}

/** Who owns the cluster's files; undefined when there are none yet. Rejects when this server cannot run these files. */
export async function inspectCluster(cluster: string, major: number): Promise<ClusterFacts | undefined> {
  const found = await stat(cluster).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined || (await isEmpty(cluster))) return undefined;
  await requireVersion(cluster, major);
  return { uid: found.uid, gid: found.gid };
}

/**
 * Whether a data directory holds the files of an embedded server. Only looks; a folder that cannot be read counts as
 * one.
 */
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
    // The files belong to another user: the check of the owner explains that better.
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

const initdbTimeoutMs = 120_000;

interface Attempt {
  readonly identity: ServerIdentity;
  readonly opensToOthers: boolean;
}

/**
 * Creates the files of a new cluster in a temporary folder and renames it, so that a half-made cluster is never used.
 */
export class ClusterInitializer {
  constructor(
    private readonly directory: DataDirectory,
    private readonly binaries: ServerBinaries,
    private readonly logger: Logger,
    private readonly onLaunch?: () => void,
  ) {}

  /** Call it under the start lock. Rejects with the last output of initdb. */
  async run(): Promise<void> {
    await this.removeLeftovers();
    const refusals: string[] = [];
    const attempts = await this.attempts();
    for (const attempt of attempts) {
      try {
        await this.attempt(attempt);
        return;
      } catch (error) {
        if (attempts.length === 1 || !isPermissionProblem(error)) throw error;
        refusals.push(`as ${attempt.identity.name}: ${messageOf(error)}`);
      }
    }
    throw new EmbeddedPostgresError(
      `no user may make the database files; run the gateway as an ordinary user.\n${refusals.join('\n')}\n`,
    );
  }

  /** A data directory that existed before keeps its mode unless nothing else works. */
  private async attempts(): Promise<readonly Attempt[]> {
    const identities = await identitiesForNewCluster();
    const others = identities.filter(({ credentials }) => credentials.uid !== undefined);
    const { created } = this.directory;
    return [
      ...identities.map((identity) => ({ identity, opensToOthers: created && others.includes(identity) })),
      ...(created ? [] : others.map((identity) => ({ identity, opensToOthers: true }))),
    ];
  }

  private async attempt({ identity, opensToOthers }: Attempt): Promise<void> {
    const modeBefore = opensToOthers ? await openToOtherUsers(this.directory) : undefined;
    const fresh = `${this.directory.cluster}.new-${randomBytes(6).toString('hex')}`;
    try {
      await mkdir(fresh, { mode: 0o700 });
      const { uid, gid } = identity.credentials;
      if (uid !== undefined && gid !== undefined) await chown(fresh, uid, gid);
      await this.initdb(identity, fresh);
      await rename(fresh, this.directory.cluster);
      await syncDirectory(this.directory.path);
    } catch (error) {
      await rm(fresh, { recursive: true, force: true });
      if (modeBefore !== undefined) await chmod(this.directory.path, modeBefore);
      throw error;
    }
  }

  private async initdb(identity: ServerIdentity, folder: string): Promise<void> {
    const began = performance.now();
    const args = ['-D', folder, '-U', 'gateway', '--auth=trust', '-E', 'UTF8', '--locale-provider=builtin'];
    args.push('--builtin-locale=C.UTF-8', '--no-instructions');
    const made = runServerCommand(serverCommand(identity, this.binaries, 'initdb', args), initdbTimeoutMs);
    this.onLaunch?.();
    await made;
    const duration_ms = Math.round(performance.now() - began);
    this.logger.info('new database files were created', { as: identity.name, duration_ms });
  }

  private async removeLeftovers(): Promise<void> {
    const prefix = `${basename(this.directory.cluster)}.new-`;
    for (const name of await readdir(this.directory.path)) {
      if (!name.startsWith(prefix)) continue;
      // An initdb that outlived its starter may still write there; the next start removes what is left.
      await rm(join(this.directory.path, name), { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

/** Syncs the folder, so that the rename survives a loss of power. */
async function syncDirectory(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
