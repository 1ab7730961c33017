import { spawn } from 'node:child_process';
import type { DataDirectory } from './data-directory.js';
import { messageOf } from './embedded-postgres.error.js';
import type { ServerBinaries } from './server-binaries.js';
import { serverCommand } from './server-command.js';
import type { ServerIdentity } from './server-identity.js';
import type { ServerLog } from './server-log.js';
import { socketPort } from './socket-directory.js';

const settings = [
  'unix_socket_permissions=0700',
  'shared_buffers=32MB',
  'max_connections=50',
  'max_wal_size=256MB',
  'io_method=sync',
  'timezone=UTC',
  'log_timezone=UTC',
  // Failed statements are told to the caller; here they would only leave values in a file.
  'log_min_messages=log',
  'log_min_error_statement=panic',
  'log_checkpoints=off',
  'logging_collector=off',
  'max_logical_replication_workers=0',
];

/** A server process that was started; it may still be on its way up. */
export interface LaunchedServer {
  /** Why it ended; undefined while it runs. */
  readonly failure: () => string | undefined;
  /** What it has written to the log since its start. */
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

/** The option takes several folders, parted by commas. */
function quotedForList(directory: string): string {
  return `"${directory.replaceAll('"', '""')}"`;
}
