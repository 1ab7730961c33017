import { release } from 'node:os';
import { boundCommand, type ChildCommand, GroupedChild } from '../transport/child-process.js';
import { type Exposure, exposureOf } from './exposure.js';
import type { GatewayPaths } from './guarded-folders.js';
import { isWithin } from './paths.js';
import { programFile } from './program-parts.js';
import { syscallFilter } from './syscall-filter.js';

/** The bounds of one child in the sandbox. */
export interface SandboxBounds {
  /** Size of its own `/tmp`, in MiB. */
  readonly tmpMb: number;
  /** Size of its own `/dev/shm`, in MiB. */
  readonly sharedMb: number;
  /** Processes and threads; 0 for no limit. */
  readonly processes: number;
  readonly network: boolean;
}

/** What bubblewrap and the kernel can do here. */
export interface SandboxAbilities {
  /** Whether `--disable-userns` works, which keeps children from making user namespaces. */
  readonly forbidsNamespaces: boolean;
  /** The seccomp program; undefined where there is none for this processor. */
  readonly filter: Uint8Array | undefined;
}

const MIB = 1_048_576;
/** The file descriptor from which bubblewrap reads the filter. */
const FILTER_FILE = '4';
/** Folders that exist, and are empty except for what is mounted in them. */
const EMPTY_FOLDERS = ['/home', '/root', '/run', '/var/tmp'];
/**
 * The process limit counts for each user namespace, so it is set inside. Some shells call it -u, others -p; in those,
 * -u ends the subshell.
 */
const LIMITED = `if (ulimit -u "$1") 2>/dev/null; then ulimit -u "$1"; else ulimit -p "$1"; fi || exit 125
shift
exec "$@"`;

/**
 * Wraps the program in bubblewrap: a file system of its own with the exposed paths and nothing else, `/tmp` and
 * `/dev/shm` of bounded size, no view of other processes, no capabilities. It ends with its parent.
 */
export function bubblewrapped(
  command: ChildCommand,
  exposure: Exposure,
  bounds: SandboxBounds,
  { forbidsNamespaces, filter }: SandboxAbilities,
): ChildCommand {
  const limited =
    bounds.processes > 0 ? ['/bin/sh', '-c', LIMITED, 'mcp-child', String(bounds.processes)] : [];
  return {
    ...command,
    file: 'bwrap',
    args: [
      ...['--die-with-parent', '--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
      ...['--unshare-cgroup-try', '--cap-drop', 'ALL'],
      ...(forbidsNamespaces ? ['--disable-userns'] : []),
      ...(bounds.network ? [] : ['--unshare-net']),
      ...(filter === undefined ? [] : ['--seccomp', FILTER_FILE]),
      ...fileSystem(exposure, bounds, command.env['HOME']),
      ...['--chdir', exposure.workingFolder, '--', ...limited, command.file, ...command.args],
    ],
    ...(filter === undefined ? {} : { fourthFile: filter }),
  };
}

function fileSystem(
  { mounts, links, workingFolder }: Exposure,
  bounds: SandboxBounds,
  home = '/root',
): readonly string[] {
  const temporary = (mib: number, path: string) => ['--size', String(mib * MIB), '--tmpfs', path];
  const isMissing = (path: string) =>
    /^\/./.test(path) && !mounts.some(({ path: mounted }) => isWithin(mounted, path));
  const covers = mounts.filter(({ how }) => how === 'empty').map(({ path }) => path);
  return [
    ...['--proc', '/proc', '--dev', '/dev', ...temporary(bounds.sharedMb, '/dev/shm')],
    ...temporary(bounds.tmpMb, '/tmp'),
    ...EMPTY_FOLDERS.flatMap((path) => ['--dir', path]),
    ...([...mounts, ...links].some(({ path }) => isWithin('/var/run', path))
      ? []
      : ['--symlink', '/run', '/var/run']),
    ...mounts.flatMap(({ path, how }) => MOUNTED[how](path)),
    ...links.flatMap(({ path, target }) => ['--symlink', target, path]),
    ...[home, workingFolder].filter(isMissing).flatMap((path) => ['--dir', path]),
    // Anything left writable would have no size limit.
    ...[...covers.reverse(), '/dev', '/'].flatMap((path) => ['--remount-ro', path]),
  ];
}

const MOUNTED = {
  readable: (path: string) => ['--ro-bind', path, path],
  writable: (path: string) => ['--bind', path, path],
  empty: (path: string) => ['--tmpfs', path],
} as const;

const PROBE_MS = 5000;
/** Since this kernel version the process limit counts for each user namespace, not for everything that a user runs. */
const COUNTS_BY_NAMESPACE = { major: 5, minor: 14 };
const PROBE_BOUNDS = { tmpMb: 1, sharedMb: 1, processes: 0, network: false };

export interface ProbeResult {
  /** Why bubblewrap does not work here; undefined when it does. */
  readonly problem: string | undefined;
  readonly abilities: SandboxAbilities;
}

/** Tries bubblewrap on this machine with the environment of children: with `--disable-userns` first, then without. */
export async function probeBubblewrap(
  env: Readonly<Record<string, string>>,
  gatewayPaths: GatewayPaths,
): Promise<ProbeResult> {
  const filter = syscallFilter();
  const none = { forbidsNamespaces: false, filter };
  if (programFile('bwrap', { path: env['PATH'] ?? '', cwd: '/' }) === undefined)
    return { problem: 'bubblewrap is not installed', abilities: none };
  const exposure = exposureOf({ ...PROBE, env }, { readablePaths: [], writablePaths: [] }, gatewayPaths);
  const best = { forbidsNamespaces: true, filter };
  const problem = await problemOf(env, exposure, best);
  if (problem === undefined) return { problem, abilities: best };
  // An older version, or one installed setuid. The system call filter forbids the same.
  return { problem: await problemOf(env, exposure, none), abilities: none };
}

/** Whether this kernel can limit the processes of one child without counting those of others. */
export function countsByNamespace(version: string = release()): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const { major: since, minor: sinceMinor } = COUNTS_BY_NAMESPACE;
  return major > since || (major === since && minor >= sinceMinor);
}

const PROBE = { file: 'true', args: [], cwd: '/' } as const;

async function problemOf(
  env: Readonly<Record<string, string>>,
  exposure: Exposure,
  abilities: SandboxAbilities,
): Promise<string | undefined> {
  const command = bubblewrapped({ ...PROBE, env }, exposure, PROBE_BOUNDS, abilities);
  const child = new GroupedChild(boundCommand(command, { memoryMb: 0, files: 0, groups: [] }));
  let errors = '';
  child.process.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const late = setTimeout(() => void child.kill(), PROBE_MS);
  const how = await child.ended;
  clearTimeout(late);
  if (child.process.exitCode === 0) return undefined;
  const [line = ''] = errors.trim().split('\n', 1);
  return line || how;
}
