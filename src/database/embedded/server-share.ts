import type { Logger } from '../../logs/logger.js';
import type { DataDirectory } from './data-directory.js';
import { codeOf, EmbeddedPostgresError, messageOf } from './embedded-postgres.error.js';
import { Presence } from './presence.js';
import type { ServerLog } from './server-log.js';
import { type JoinedServer, ServerStarter } from './server-starter.js';
import { stopServer } from './server-stopper.js';
import { removeSocketDirectory } from './socket-directory.js';
import { StartLock } from './start-lock.js';

const leaveLockTimeoutMs = 30_000;

/** Comes to the cluster's server and goes from it, one process at a time: the first starts it, the last stops it. */
export class ServerShare {
  constructor(
    private readonly directory: DataDirectory,
    private readonly log: ServerLog,
    private readonly logger: Logger,
  ) {}

  /** Adopts or starts the server and makes the gateway's database when it is absent. Tries until the signal fires. */
  async join(signal: AbortSignal): Promise<JoinedServer> {
    const began = performance.now();
    const joined = await this.locked(signal, async () => {
      const server = await new ServerStarter(this.directory, this.log, this.logger).join(signal);
      await ensureDatabase(server.presence);
      return server;
    });
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

async function ensureDatabase(presence: Presence): Promise<void> {
  try {
    await presence.ensureDatabase();
  } catch (error) {
    await presence.leave();
    throw error;
  }
}

async function isLast(presence: Presence, socketDirectory: string): Promise<boolean> {
  try {
    return (await presence.others()) === 0;
  } catch {
    return await isLastOnNewConnection(socketDirectory);
  }
}

/** A server that cannot be reached, or lets nobody in yet, has no other users. */
async function isLastOnNewConnection(socketDirectory: string): Promise<boolean> {
  try {
    const presence = await Presence.join(socketDirectory);
    const others = await presence.others().finally(() => presence.leave());
    return others === 0;
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED', '57P03'].includes(codeOf(error) ?? '')) return true;
    throw error;
  }
}
