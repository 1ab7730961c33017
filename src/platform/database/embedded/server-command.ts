import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { codeOf, EmbeddedPostgresError, messageOf } from './embedded-postgres.error.js';
import type { ServerBinaries } from './server-binaries.js';

/** The user that PostgreSQL's programs run as: they refuse to run as root. */
export interface ServerIdentity {
  readonly name: string;
  /** The owner of the cluster's files. */
  readonly owner: number;
  readonly credentials: { readonly uid?: number; readonly gid?: number };
  /** The start of a command line: the command that it is to run follows it. */
  readonly prefix: readonly string[];
}

interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The users that may create a new cluster, best first. */
export async function identitiesForNewCluster(): Promise<readonly ServerIdentity[]> {
  const users = await knownUsers();
  if (effectiveUser() !== 0) return [canBeNamed() ? ourselves() : inNamespace(users)];
  return [...users.map(droppedTo), inNamespace(users)];
}

/** The user that has to run a cluster whose files belong to `uid`. */
export async function identityForCluster(folder: string, uid: number, gid: number): Promise<ServerIdentity> {
  const own = effectiveUser();
  if (own === 0)
    return uid === 0 ? inNamespace(await knownUsers()) : droppedTo({ name: `user ${uid}`, uid, gid });
  if (uid === own) return ourselves();
  throw new EmbeddedPostgresError(
    `${folder} belongs to user ${uid}, this process runs as user ${own}; run as that user, or name another folder in GATEWAY_DATA_DIR.`,
  );
}

function effectiveUser(): number {
  return process.geteuid?.() ?? -1;
}

/** initdb fails for a user that the system does not know, such as the random user of a container. */
function canBeNamed(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

function ourselves(): ServerIdentity {
  return { name: 'this user', owner: effectiveUser(), credentials: {}, prefix: [] };
}

function droppedTo(user: User): ServerIdentity {
  return { name: user.name, owner: user.uid, credentials: { uid: user.uid, gid: user.gid }, prefix: [] };
}

/**
 * Root without its rights: outside it is root, which owns the files and may enter every folder; inside it is another
 * user.
 */
function inNamespace(users: readonly User[]): ServerIdentity {
  const { uid, gid } = users.at(-1) ?? { uid: 65534, gid: 65534 };
  return {
    name: 'a user namespace',
    owner: effectiveUser(),
    credentials: {},
    prefix: ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'],
  };
}

/** `postgres` and `nobody`, where this system has them. */
async function knownUsers(): Promise<readonly User[]> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n');
  return ['postgres', 'nobody'].flatMap((name) => {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    return uid === undefined || gid === undefined ? [] : [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

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

/**
 * Runs a program of PostgreSQL as its user. It gets nothing of our environment, where PGDATA, PGPORT and the like would
 * change what it does.
 */
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
      // The server's user may not be able to enter our folder.
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

/** Runs a command, for at most `timeoutMs`. Rejects with the last lines of its output. */
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

/**
 * Whether another user could succeed where this one failed. `EINVAL` means that this container does not have the user.
 */
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

/** Files of root need a server that is root outside and another user inside a namespace. */
export function namespaceHint(output: string): string {
  if (!output.startsWith('unshare: ')) return '';
  return ' The files belong to root, and user namespaces are not allowed here: give the folder to another user with "chown -R".';
}

/** Without glibc the programs are there, and still the system says "not found". */
export function libcHint(): string {
  const header = (process.report.getReport() as { header?: { glibcVersionRuntime?: string } }).header;
  const foreign = process.platform === 'linux' && header?.glibcVersionRuntime === undefined;
  return foreign ? ' The binaries need glibc, which Alpine and other musl systems lack.' : '';
}
