import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../logging/logger.js';
import { signalWithin } from '../../runtime/signal-within.js';
import { openDataDirectory, socketPort } from './data-directory.js';
import { EmbeddedPostgresError, messageOf } from './embedded-postgres.error.js';
import { databaseName, superuser } from './presence.js';
import { ServerLog } from './server-process.js';
import { ServerShare } from './server-share.js';
import type { JoinedServer } from './server-starter.js';

const defaultStartTimeoutMs = 60_000;
const logTrimMs = 60_000;
const maxPauseMs = 10_000;
/** When a server ran this long, its next failure counts as the first again. */
const calmMs = 30_000;

export interface EmbeddedPostgresOptions {
  /** Created with mode 0700 when absent; relative paths count from the working directory. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Longest wait for a server that answers, recovery included; 60 s unless given. */
  readonly startTimeoutMs?: number;
  /** Called when a program of the server has been started, and this process only waits for it. */
  readonly onLaunch?: () => void;
}

/**
 * What a client needs to connect. There is no password and no TLS: only the server's user can enter the socket's
 * folder.
 */
export interface EmbeddedConnection {
  /** The socket's folder. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/**
 * Runs the embedded server for one process: starts it, restarts it when it dies, and stops it if no other process uses
 * it.
 */
export class EmbeddedPostgres {
  private readonly closing = new AbortController();
  private readonly trimmer: NodeJS.Timeout;
  private readonly supervision: Promise<void>;
  private closed: Promise<void> | undefined;

  private constructor(
    private readonly share: ServerShare,
    private readonly options: EmbeddedPostgresOptions,
    private joined: JoinedServer,
    log: ServerLog,
  ) {
    this.supervision = this.supervise();
    this.trimmer = setInterval(() => void log.trim().catch(() => undefined), logTrimMs);
    this.trimmer.unref();
  }

  /** Rejects with an `EmbeddedPostgresError` that says what is wrong and what to do. */
  static async open(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    try {
      const directory = await openDataDirectory(options.dataDir);
      const log = new ServerLog(directory.logFile);
      const share = new ServerShare(directory, log, options.logger, options.onLaunch);
      const joined = await share.join(startLimit(options));
      return new EmbeddedPostgres(share, options, joined, log);
    } catch (error) {
      throw EmbeddedPostgresError.from(error);
    }
  }

  get connection(): EmbeddedConnection {
    return {
      host: this.joined.socketDirectory,
      port: socketPort,
      user: superuser,
      database: databaseName,
    };
  }

  /** Close your own connections first. Takes at most about 50 s and never rejects; a second call waits for the first. */
  close(): Promise<void> {
    this.closed ??= this.leave();
    return this.closed;
  }

  private async leave(): Promise<void> {
    this.closing.abort();
    clearInterval(this.trimmer);
    await this.supervision;
    await this.share.leave(this.joined);
  }

  /** The gateway's pool reconnects by itself, once there is a server again. */
  private async supervise(): Promise<void> {
    const { signal } = this.closing;
    const closing = new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    let tries = 0;
    for (;;) {
      const since = performance.now();
      const reason = await Promise.race([closing, this.joined.presence.lost]);
      if (reason === undefined) return;
      if (performance.now() - since > calmMs) tries = 0;
      this.options.logger.warn('the embedded server has stopped; starting it again', { reason });
      tries = await this.rejoin(tries, signal);
    }
  }

  /** Tries with growing pauses until the server is back or `close` is called; returns the number of tries in a row. */
  private async rejoin(before: number, signal: AbortSignal): Promise<number> {
    for (let tries = before; ; tries++) {
      const pauseMs = tries === 0 ? 0 : Math.min(100 * 2 ** tries, maxPauseMs);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return tries;
      try {
        this.joined = await this.share.join(startLimit(this.options, signal));
        return tries + 1;
      } catch (error) {
        this.reportAbsence(error);
      }
    }
  }

  private reportAbsence(error: unknown): void {
    if (this.closing.signal.aborted) return;
    this.options.logger.error('the embedded server could not be started again; will retry', {
      reason: messageOf(error),
    });
  }
}

function startLimit(
  { startTimeoutMs = defaultStartTimeoutMs }: EmbeddedPostgresOptions,
  signal?: AbortSignal,
): AbortSignal {
  return signalWithin(startTimeoutMs, signal);
}
