import { resolve } from 'node:path';
import { isBelow } from '../../../platform/files/contained-file.js';
import type { ChildCommand } from '../transport/child-process.js';
import { type GatewayPaths, GuardedFolders } from './guarded-folders.js';
import { factsOf, foldersAbove, isFolder, isWithin, type Link, resolvedPath } from './paths.js';
import { namedParts, programFile, programParts, workingFolderParts } from './program-parts.js';

/** Variables that every child gets; they do not name files for it. */
const COMMON = new Set(['HOME', 'PATH', 'SHELL', 'npm_config_cache']);

/** What one child may read and write beyond what it needs to run. */
export interface Grants {
  readonly readablePaths: readonly string[];
  readonly writablePaths: readonly string[];
  /** The folder of the user for whom it runs: the only part of the gateway's data that it sees. */
  readonly userFolder?: string | undefined;
}

/** All of the machine's files that a child sees. */
export interface Exposure extends ShownPaths {
  /** The folder it runs in. */
  readonly workingFolder: string;
}

/**
 * Lists what a child sees (docs/mcp.md, The sandbox): the system, its program and runtime, its working folder, the paths in
 * its arguments and variables, npm's cache, and its grants. The folders of the settings and of the data, and files named
 * `.env`, are never included. Throws when a granted path does not exist or may not be granted.
 */
export function exposureOf(command: ChildCommand, grants: Grants, gatewayPaths: GatewayPaths): Exposure {
  const guarded = new GuardedFolders(gatewayPaths);
  const cwd = resolve(command.cwd ?? gatewayPaths.workingFolder);
  const { userFolder } = grants;
  const userFolders = userFolder === undefined ? [] : [realOf(userFolder)];
  const writable = [...grants.writablePaths.map(realOf), ...userFolders];
  const shown = new ShownPathsBuilder();
  const named = namedPaths(command, cwd).filter((path) => !isSteered(path, writable));
  for (const path of [cwd, ...named]) shown.addLinks(path);
  const own = new Set([...runtimeParts(command, cwd, guarded), ...projectsOf(cwd, named, guarded)]);
  for (const path of own) {
    const real = realOf(path);
    const isShown = guarded.maySee(real) && !guarded.isWide(real) && !isSteered(path, writable);
    if (isShown) shown.add(path, 'readable');
  }
  for (const path of SYSTEM_PATHS) shown.add(path, 'readable');
  for (const [key, paths, how] of [
    ['readable_paths', grants.readablePaths, 'readable'],
    ['writable_paths', grants.writablePaths, 'writable'],
  ] as const)
    for (const path of paths) shown.add(granted(key, path, writable, guarded), how);
  for (const path of userFolders) shown.add(path, 'writable');
  return { ...shown.arranged(guarded.all), workingFolder: realOf(cwd) };
}

/** The program itself, and the arguments (also after `--flag=`) and variables that may be paths. */
function namedPaths({ file, args, env }: ChildCommand, cwd: string): readonly string[] {
  const program = programFile(file, { path: env['PATH'] ?? '', cwd });
  const values = args.map((arg) => resolve(cwd, arg.replace(/^--?[\w-]+=/, '')));
  const variables = Object.entries(env).filter(([name, value]) => !COMMON.has(name) && value.startsWith('/'));
  return [...(program === undefined ? [] : [program]), ...values, ...variables.map(([, value]) => value)];
}

/** The program's installation, the runtime of Node.js, and npm's cache. */
function runtimeParts({ file, env }: ChildCommand, cwd: string, guarded: GuardedFolders): readonly string[] {
  const search = { path: env['PATH'] ?? '', cwd };
  const runtimes = [file, process.execPath, 'node'].flatMap((program) => programParts(program, search));
  const cache = env['npm_config_cache'] ?? `${env['HOME'] ?? '/nonexistent'}/.npm`;
  return [...new Set([...runtimes, cache])].filter((path) => !guarded.isStrict(realOf(path)));
}

function projectsOf(cwd: string, named: readonly string[], guarded: GuardedFolders): readonly string[] {
  const real = [...new Set(named.map(realOf))];
  return [...workingFolderParts(realOf(cwd), guarded), ...real.flatMap((path) => namedParts(path, guarded))];
}

/** Checks one granted path. Throws an error that names the setting and the path. */
function granted(key: string, path: string, writable: readonly string[], guarded: GuardedFolders): string {
  const resolved = resolvedPath(path);
  if (resolved === undefined) throw new Error(`${key} names ${path}, which does not exist`);
  if (resolved.real === '/' || !guarded.maySee(resolved.real))
    throw new Error(`${key} names ${path}, which no server may see as a whole`);
  if (isSteered(path, writable))
    throw new Error(`${key} names ${path}, which leads elsewhere by a link that a server can write`);
  return path;
}

/** Whether a link on the way is in a folder that the server may write: it could redirect the next start anywhere. */
function isSteered(path: string, writable: readonly string[]): boolean {
  const links = resolvedPath(path)?.links ?? [];
  return links.some((link) => writable.some((folder) => isBelow(folder, link.path)));
}

function realOf(path: string): string {
  return resolvedPath(path)?.real ?? resolve(path);
}

/** What every program may read: programs and libraries, and the parts of `/etc` for names, certificates and time zones. */
const SYSTEM_PATHS: readonly string[] = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  // Distributions that keep their programs elsewhere
  '/nix/store',
  '/gnu/store',
  '/run/current-system',
  // Loading and starting programs
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/ld-musl-x86_64.path',
  '/etc/ld-musl-aarch64.path',
  // Names of hosts, users and services
  '/etc/gai.conf',
  '/etc/group',
  '/etc/host.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/passwd',
  '/etc/protocols',
  '/etc/resolv.conf',
  '/etc/services',
  // Certificates of authorities; no private keys
  '/etc/ca-certificates',
  '/etc/crypto-policies',
  '/etc/pki/ca-trust',
  '/etc/pki/tls/cert.pem',
  '/etc/pki/tls/certs',
  '/etc/pki/tls/openssl.cnf',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/var/lib/ca-certificates',
  // Time zones, fonts and kinds of files
  '/etc/fonts',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/os-release',
  '/etc/timezone',
];

/** One mount in the sandbox, at its own real path; `empty` covers what is there. */
interface Mount {
  readonly path: string;
  readonly how: 'readable' | 'writable' | 'empty';
}

interface ShownPaths {
  /** In mount order: deeper paths come later. */
  readonly mounts: readonly Mount[];
  /** Links that lead to shown paths and are not in a mount themselves. */
  readonly links: readonly Link[];
}

/** Collects the paths to show and arranges them in the order in which they can be mounted. */
class ShownPathsBuilder {
  private readonly requested = new Map<string, 'readable' | 'writable'>();
  private readonly links = new Map<string, Link>();

  /** Adds a file or a folder. Sockets are ignored, because even a read-only one can be connected to. */
  add(path: string, how: 'readable' | 'writable'): void {
    const resolved = resolvedPath(path);
    const facts = factsOf(path);
    if (resolved === undefined || facts === undefined) return;
    if (!facts.isDirectory() && !facts.isFile()) return;
    this.addLinks(path);
    if (this.requested.get(resolved.real) !== 'writable') this.requested.set(resolved.real, how);
  }

  /** Keeps the links on the way to a path, so that the child can use the path as it is written. */
  addLinks(path: string): void {
    for (const link of resolvedPath(path)?.links ?? []) this.links.set(link.path, link);
  }

  /** @param covered folders to cover with an empty one where a folder above is shown */
  arranged(covered: readonly string[]): ShownPaths {
    const covers = covered.filter((folder) => !this.requested.has(folder) && isFolder(folder));
    const all: Mount[] = [
      ...[...this.requested].map(([path, how]) => ({ path, how })),
      ...covers.map((path) => ({ path, how: 'empty' as const })),
    ];
    const mounted = new Map<string, Mount>();
    // Of two nested paths the shorter one is above.
    for (const mount of all.sort((one, other) => one.path.length - other.path.length)) {
      const above = nearestAbove(mount.path, mounted)?.how ?? 'empty';
      const isThere = above === mount.how || (above === 'writable' && mount.how === 'readable');
      if (!isThere) mounted.set(mount.path, mount);
    }
    return { mounts: [...mounted.values()], links: this.usefulLinks(mounted) };
  }

  private usefulLinks(mounted: ReadonlyMap<string, Mount>): readonly Link[] {
    const paths = [...mounted.keys()];
    return [...this.links.values()].filter(({ path, target }) => {
      if ((nearestAbove(path, mounted)?.how ?? 'empty') !== 'empty') return false;
      return paths.some((shown) => isWithin(shown, target) || isWithin(target, shown));
    });
  }
}

function nearestAbove(path: string, mounted: ReadonlyMap<string, Mount>): Mount | undefined {
  const folder = foldersAbove(path).find((above) => mounted.has(above));
  return folder === undefined ? undefined : mounted.get(folder);
}
