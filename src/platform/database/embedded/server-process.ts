import { spawn } from 'node:child_process';
import { copyFile, open, readFile, stat, truncate } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../logging/logger.js';
import { type DataDirectory, socketPort } from './data-directory.js';
import { codeOf, messageOf } from './embedded-postgres.error.js';
import { findPostmaster, isPostmaster } from './postmaster-file.js';
import type { ServerBinaries } from './server-binaries.js';
import { type ServerIdentity, serverCommand, tail } from './server-command.js';

const settings = [
  'unix_socket_permissions=0700',
  'shared_buffers=32MB',
  'max_connections=50',
  'max_wal_size=256MB',
  'io_method=sync',
  'timezone=UTC',
  'log_timezone=UTC',
  // The caller gets the error of a failed statement. In the log, statements would only leave values in a file.
  'log_min_messages=log',
  'log_min_error_statement=panic',
  'log_checkpoints=off',
  'logging_collector=off',
  'max_logical_replication_workers=0',
];

/** A server process that was started and may still be starting up. */
export interface LaunchedServer {
  /** Why it ended; undefined while it runs. */
  readonly failure: () => string | undefined;
  /** What it has logged since its start. */
  readonly output: () => Promise<string>;
}

/** Starts the server detached: Ctrl-C in our terminal must not reach it before the gateway has drained. */
export async function launchServer(
  { cluster }: DataDirectory,
  socketDirectory: string,
  binaries: ServerBinaries,
  identity: ServerIdentity,
  log: ServerLog,
): Promise<LaunchedServer> {
  const args = ['-D', cluster, '-k', quotedForList(socketDirectory), '-h', '', '-p', String(socketPort)];
  const withSettings = [...args, ...settings.flatMap((setting) => ['-c', setting])];
  const { file, args: all, options } = serverCommand(identity, binaries, 'postgres', withSettings);
  let failure: string | undefined;
  await log.trim();
  const before = await log.size();
  await log.withDescriptor((out) => {
    const child = spawn(file, [...all], { ...options, detached: true, stdio: ['ignore', out, out] });
    child.on('error', (error) => (failure = messageOf(error)));
    child.on('exit', (code, signal) => (failure = `it ended with ${signal ?? `code ${String(code)}`}`));
    child.unref();
  });
  return { failure: () => failure, output: () => log.linesSince(before) };
}

/** The option takes several folders, separated by commas. */
function quotedForList(directory: string): string {
  return `"${directory.replaceAll('"', '""')}"`;
}

const pollMs = 5;

/** Fast ends connections and writes everything to disk. Immediate leaves that to recovery at the next start. */
const steps = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
] as const;

/** Stops the server of this cluster if one runs; takes at most 20 s. Call it under the start lock. */
export async function stopServer(cluster: string, logger: Logger): Promise<void> {
  const postmaster = await findPostmaster(cluster);
  if (postmaster === undefined) return;
  for (const { signal, waitMs } of steps) {
    send(postmaster.pid, signal);
    if (await endsWithin(postmaster.pid, cluster, waitMs)) return;
    logger.warn('the embedded server did not stop', { pid: postmaster.pid, signal });
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

async function endsWithin(pid: number, cluster: string, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    if (!(await isPostmaster(pid, cluster))) return true;
    await sleep(pollMs);
  }
  return false;
}

const largestBytes = 1 << 20;

/**
 * The file that the server logs to. The server outlives this process, so a pipe would not do. It stays below 1 MiB,
 * with one older copy.
 */
export class ServerLog {
  constructor(private readonly path: string) {}

  /** For the server's standard output and error. */
  async withDescriptor<T>(use: (descriptor: number) => T): Promise<T> {
    await this.trim();
    const file = await open(this.path, 'a', 0o600);
    try {
      return use(file.fd);
    } finally {
      await file.close();
    }
  }

  /** The server opens it for appending, so that it can be truncated while it is in use. */
  async trim(): Promise<void> {
    if ((await this.size()) <= largestBytes) return;
    await copyFile(this.path, `${this.path}.1`);
    await truncate(this.path, 0);
  }

  async size(): Promise<number> {
    return await stat(this.path).then(
      ({ size }) => size,
      () => 0,
    );
  }

  /** The last lines that were written after the file had reached `size` bytes. */
  async linesSince(size: number): Promise<string> {
    const bytes = await readFile(this.path).catch(() => Buffer.alloc(0));
    return tail(bytes.subarray(size).toString('utf8'));
  }
}
