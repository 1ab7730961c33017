import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../logging/logger.js';
import { ClusterInitializer, inspectCluster } from './cluster-files.js';
import {
  type DataDirectory,
  makeSocketDirectory,
  openToOtherUsers,
  socketDirectoryFor,
  socketFile,
} from './data-directory.js';
import { EmbeddedPostgresError, messageOf } from './embedded-postgres.error.js';
import { findPostmaster, removeStalePidFiles } from './postmaster-file.js';
import { connectionProblem, Presence } from './presence.js';
import { findServerBinaries } from './server-binaries.js';
import { identityForCluster, libcHint, namespaceHint } from './server-command.js';
import { type LaunchedServer, launchServer, type ServerLog, stopServer } from './server-process.js';

const pollMs = 5;
/** How long a server that says it is ready may have no socket before it counts as unreachable. */
const socketTimeoutMs = 3_000;
/** The child processes of a killed server need a moment to notice and to release the shared memory. */
const rivalPauseMs = 100;

export interface JoinedServer {
  readonly presence: Presence;
  readonly socketDirectory: string;
  readonly adopted: boolean;
}

/**
 * Connects one caller to the cluster's server. Adopts a server that runs, or else starts one; creates the cluster first
 * if there is none.
 */
export class ServerStarter {
  private launched: LaunchedServer | undefined;
  private unreachableSince: number | undefined;
  private problem = 'nothing was tried';

  constructor(
    private readonly directory: DataDirectory,
    private readonly log: ServerLog,
    private readonly logger: Logger,
    private readonly onLaunch?: () => void,
  ) {}

  /** Call it under the start lock, once for each instance. Tries until the signal is aborted. */
  async join(signal: AbortSignal): Promise<JoinedServer> {
    while (!signal.aborted) {
      const joined = await this.step();
      if (joined !== undefined) return joined;
      await sleep(pollMs);
    }
    throw new EmbeddedPostgresError(
      `the server in ${this.directory.cluster} did not become ready in time: ${this.problem}. See ${this.directory.logFile}.`,
      { cause: signal.reason },
    );
  }

  private async step(): Promise<JoinedServer | undefined> {
    const postmaster = await findPostmaster(this.directory.cluster);
    if (postmaster === undefined) return await this.withoutPostmaster();
    if (postmaster.status !== 'ready') {
      this.problem = `it is ${postmaster.status || 'starting'}`;
      return undefined;
    }
    // Its starter may have used another folder, because of another mount or a longer path.
    const joined = await this.tryJoin([await this.socketDirectory(), postmaster.socketDirectory]);
    if (joined === undefined) await this.replaceIfUnreachable();
    return joined;
  }

  private async withoutPostmaster(): Promise<JoinedServer | undefined> {
    const failure = this.launched?.failure();
    if (failure !== undefined) return await this.afterFailure(failure);
    if (this.launched !== undefined) return undefined;
    // The pid of a server in another container means nothing here, but the server answers.
    const joined = await this.tryJoin([await this.socketDirectory()]);
    if (joined === undefined && this.unreachableSince !== undefined) await this.launch();
    return joined;
  }

  private async tryJoin(directories: readonly string[]): Promise<JoinedServer | undefined> {
    for (const socketDirectory of new Set(directories)) {
      try {
        const presence = await Presence.join(socketDirectory);
        return { presence, socketDirectory, adopted: this.launched === undefined };
      } catch (error) {
        this.problem = messageOf(error);
        const kind = connectionProblem(error);
        if (kind === 'lasting') throw error;
        if (kind === 'absent') continue;
        this.unreachableSince = undefined;
        return undefined;
      }
    }
    this.unreachableSince ??= performance.now();
    return undefined;
  }

  private async replaceIfUnreachable(): Promise<void> {
    if (this.unreachableSince === undefined) return;
    if (performance.now() - this.unreachableSince < socketTimeoutMs) return;
    this.logger.warn('the embedded server runs but its socket is gone; restarting it');
    await stopServer(this.directory.cluster, this.logger);
    this.launched = undefined;
    this.unreachableSince = undefined;
  }

  private async launch(): Promise<void> {
    this.unreachableSince = undefined;
    const { cluster, path } = this.directory;
    const binaries = await findServerBinaries(path);
    let facts = await inspectCluster(cluster, binaries.major);
    if (facts === undefined) {
      await new ClusterInitializer(this.directory, binaries, this.logger, this.onLaunch).run();
      facts = await inspectCluster(cluster, binaries.major);
    }
    if (facts === undefined) throw new EmbeddedPostgresError(`${cluster} vanished while it was made.`);
    const identity = await identityForCluster(cluster, facts.uid, facts.gid);
    if (identity.credentials.uid !== undefined) await openToOtherUsers(this.directory);
    const sockets = socketDirectoryFor(cluster, identity.owner);
    await makeSocketDirectory(sockets, cluster, identity.owner);
    await removeStalePidFiles(cluster, socketFile(sockets));
    this.launched = await launchServer(this.directory, sockets, binaries, identity, this.log);
    this.onLaunch?.();
  }

  private async afterFailure(failure: string): Promise<undefined> {
    const output = (await this.launched?.output()) ?? '';
    this.launched = undefined;
    this.problem = output || failure;
    if (!namesRival(output)) {
      throw new EmbeddedPostgresError(
        `the server did not start (${failure}): ${output}.${namespaceHint(output)}${libcHint()}`,
      );
    }
    await sleep(rivalPauseMs);
  }

  private async socketDirectory(): Promise<string> {
    const { cluster } = this.directory;
    const owner = await stat(cluster).then(
      ({ uid }) => uid,
      () => 0,
    );
    return socketDirectoryFor(cluster, owner);
  }
}

/** Another server uses the folder, or a killed server's shared memory is still there. */
function namesRival(output: string): boolean {
  const isLocked = output.includes('lock file "') && output.includes('already exists');
  return isLocked || output.includes('pre-existing shared memory block');
}
