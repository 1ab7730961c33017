import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../logging/logger.js';
import { type DataDirectory, removeSocketDirectory } from './data-directory.js';
import { EmbeddedPostgresError, messageOf } from './embedded-postgres.error.js';
import { connectionProblem, Presence } from './presence.js';
import { type ServerLog, stopServer } from './server-process.js';
import { type JoinedServer, ServerStarter } from './server-starter.js';
import { StartLock } from './start-lock.js';

const leaveLockTimeoutMs = 30_000;
const maxTries = 20;
const retryMs = 100;

/** Joins and leaves the cluster's server, one process at a time: the first process starts it, the last one stops it. */
export class ServerShare {
  constructor(
    private readonly directory: DataDirectory,
    private readonly log: ServerLog,
    private readonly logger: Logger,
    private readonly onLaunch?: () => void,
  ) {}

  /** Adopts or starts the server. Tries until the signal is aborted. */
  async join(signal: AbortSignal): Promise<JoinedServer> {
    const began = performance.now();
    const starter = new ServerStarter(this.directory, this.log, this.logger, this.onLaunch);
    const joined = await this.locked(signal, () => starter.join(signal));
    const done = joined.adopted ? 'using the running embedded server' : 'started the embedded server';
    const duration_ms = Math.round(performance.now() - began);
    this.logger.info(done, { folder: this.directory.cluster, duration_ms });
    return joined;
  }

  /** Stops the server unless another process uses it. Takes at most about 50 s and never rejects. */
  async leave(joined: JoinedServer): Promise<void> {
    try {
      await this.locked(AbortSignal.timeout(leaveLockTimeoutMs), () => this.leaveLocked(joined));
    } catch (error) {
      this.logger.warn('the embedded server was left running', { reason: messageOf(error) });
    } finally {
      await joined.presence.leave();
    }
  }

  private async leaveLocked({ presence, socketDirectory }: JoinedServer): Promise<void> {
    const last = await isLast(presence, socketDirectory);
    await presence.leave();
    if (!last) return;
    await stopServer(this.directory.cluster, this.logger);
    await removeSocketDirectory(socketDirectory, this.directory.cluster);
  }

  private async locked<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const lock = await this.acquireLock(signal);
    try {
      return await work();
    } finally {
      lock.release();
    }
  }

  private async acquireLock(signal: AbortSignal): Promise<StartLock> {
    const { lockFile } = this.directory;
    try {
      return await StartLock.acquire(lockFile, signal);
    } catch (cause) {
      const problem = signal.aborted ? 'another process holds it' : messageOf(cause);
      throw new EmbeddedPostgresError(`the lock ${lockFile} cannot be taken: ${problem}.`, { cause });
    }
  }
}

async function isLast(presence: Presence, socketDirectory: string): Promise<boolean> {
  try {
    return !(await presence.hasOtherUsers());
  } catch {
    return await isLastOnNewConnection(socketDirectory);
  }
}

/** A server that cannot be reached, or that accepts no connections yet, has no other users. */
async function isLastOnNewConnection(socketDirectory: string): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      const presence = await Presence.join(socketDirectory);
      return !(await presence.hasOtherUsers().finally(() => presence.leave()));
    } catch (error) {
      const kind = connectionProblem(error);
      if (kind === 'absent' || kind === 'closed') return true;
      if (kind === 'lasting' || tries === maxTries) throw error;
      await sleep(retryMs);
    }
  }
}
