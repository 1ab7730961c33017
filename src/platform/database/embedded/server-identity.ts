import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';

/** As whom PostgreSQL's programs run: they refuse to run as root. */
export interface ServerIdentity {
  readonly name: string;
  /** Whose files the cluster's are. */
  readonly owner: number;
  readonly credentials: { readonly uid?: number; readonly gid?: number };
  /** A command that runs the command after it. */
  readonly prefix: readonly string[];
}

interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Who may make a new cluster, best first. */
export async function identitiesForNewCluster(): Promise<readonly ServerIdentity[]> {
  const users = await knownUsers();
  if (effectiveUser() !== 0) return [canBeNamed() ? ourselves() : inNamespace(users)];
  return [...users.map(droppedTo), inNamespace(users)];
}

/** Who must run a cluster whose files belong to `uid`. */
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

/** initdb fails for a user without an entry among the system's users, such as a container's random one. */
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

/** Root without its powers: the files are root's and every folder of root's can be reached, yet inside it is another user. */
function inNamespace(users: readonly User[]): ServerIdentity {
  const { uid, gid } = users.at(-1) ?? { uid: 65534, gid: 65534 };
  return {
    name: 'a user namespace',
    owner: effectiveUser(),
    credentials: {},
    prefix: ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'],
  };
}

/** `postgres` and `nobody`, as far as this system has them. */
async function knownUsers(): Promise<readonly User[]> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n');
  return ['postgres', 'nobody'].flatMap((name) => {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    return uid === undefined || gid === undefined ? [] : [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}
