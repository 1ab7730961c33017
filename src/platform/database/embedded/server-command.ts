import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { codeOf, EmbeddedPostgresError, messageOf } from './embedded-postgres.error.js';
import type { ServerBinaries } from './server-binaries.js';
import type { ServerIdentity } from './server-identity.js';

const run = promisify(execFile);
const lastLines = 12;

export interface ServerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: {
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    readonly uid?: number;
    readonly gid?: number;
  };
}

/** A program of PostgreSQL as its user, with nothing of our environment: PGDATA, PGPORT and the like would steer it. */
export function serverCommand(
  identity: ServerIdentity,
  binaries: ServerBinaries,
  program: 'initdb' | 'postgres',
  args: readonly string[],
): ServerCommand {
  const [file = binaries[program], ...rest] = [...identity.prefix, binaries[program], ...args];
  return {
    file,
    args: rest,
    options: {
      // The server's user may not be able to enter ours.
      cwd: '/',
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
        LC_ALL: 'C',
        TZ: 'UTC',
        ...(binaries.libraryPath === undefined ? {} : { LD_LIBRARY_PATH: binaries.libraryPath }),
      },
      ...identity.credentials,
    },
  };
}

/** Runs a command to its end, for at most `timeoutMs`. Rejects with the last lines of what it wrote. */
export async function runServerCommand(
  { file, args, options }: ServerCommand,
  timeoutMs: number,
): Promise<void> {
  try {
    await run(file, [...args], { ...options, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 1 << 20 });
  } catch (error) {
    const { stderr = '', killed = false } = error as { stderr?: string; killed?: boolean };
    const reason = killed ? `no end within ${timeoutMs} ms` : tail(stderr) || messageOf(error);
    throw new EmbeddedPostgresError(`${file} failed: ${reason}.${libcHint()}`, { cause: error });
  }
}

/** Whether another user could succeed where this one failed; `EINVAL` is a user that this container does not have. */
export function isPermissionProblem(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const codes = [codeOf(error), codeOf(cause)];
  return (
    codes.some((code) => ['EACCES', 'EPERM', 'EINVAL'].includes(code ?? '')) ||
    /permission denied|not permitted|unshare: /i.test(messageOf(error))
  );
}

export function tail(text: string): string {
  return text.trim().split('\n').slice(-lastLines).join('\n');
}

/** Root's files need a server that is root outside and somebody else inside. */
export function namespaceHint(output: string): string {
  if (!output.startsWith('unshare: ')) return '';
  return ' The files belong to root, and user namespaces are not allowed here: give the folder to another user with "chown -R".';
}

/** Without glibc the programs look present and yet "not found". */
export function libcHint(): string {
  const header = (process.report.getReport() as { header?: { glibcVersionRuntime?: string } }).header;
  const foreign = process.platform === 'linux' && header?.glibcVersionRuntime === undefined;
  return foreign ? ' The binaries need glibc, which Alpine and other musl systems lack.' : '';
}
