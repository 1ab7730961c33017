import { resolve } from 'node:path';
import { isBelow } from '../../../platform/files/contained-file.js';
import type { ChildCommand } from '../transport/child-process.js';
import { type GatewayPaths, GuardedFolders } from './guarded-folders.js';
import { resolvedPath } from './paths.js';
import { programFile, programParts } from './program-parts.js';
import { namedParts, workingFolderParts } from './project-parts.js';
import { type ShownPaths, ShownPathsBuilder } from './shown-paths.js';

/** Variables that every child gets; they do not name files for it. */
const COMMON = new Set(['HOME', 'PATH', 'SHELL', 'npm_config_cache']);

/** What one child may read and write beyond what it needs to run. */
export interface Grants {
  readonly readablePaths: readonly string[];
  readonly writablePaths: readonly string[];
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
  const writable = grants.writablePaths.map(realOf);
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
