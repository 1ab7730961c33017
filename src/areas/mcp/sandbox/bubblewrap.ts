import type { ChildCommand } from '../transport/child-command.js';
import type { Exposure } from './exposure.js';
import { isWithin } from './resolved-path.js';

/** What bounds one child in the sandbox. */
export interface SandboxBounds {
  /** `/tmp` of its own, in MiB. */
  readonly tmpMb: number;
  /** `/dev/shm` of its own, in MiB. */
  readonly sharedMb: number;
  /** Processes and threads; 0 for no limit. */
  readonly processes: number;
  readonly network: boolean;
}

/** What bubblewrap and the kernel can do here. */
export interface SandboxAbilities {
  /** Children can be kept from making user namespaces of their own. */
  readonly forbidsNamespaces: boolean;
  /** A program that filters system calls, where there is one for this processor. */
  readonly filter: Uint8Array | undefined;
}

const MIB = 1_048_576;
/** The file in which bubblewrap finds the filter. */
const FILTER_FILE = '4';
/** Folders that are there, and empty but for what is shown in them. */
const EMPTY_FOLDERS = ['/home', '/root', '/run', '/var/tmp'];
/**
 * The limit counts for each user namespace, so it is set inside. Some shells know it as -u, others as -p; in those -u ends
 * the subshell.
 */
const LIMITED = `if (ulimit -u "$1") 2>/dev/null; then ulimit -u "$1"; else ulimit -p "$1"; fi || exit 125
shift
exec "$@"`;

/**
 * The program inside bubblewrap: a file system of its own that holds what is exposed and nothing else, `/tmp` and
 * `/dev/shm` of bounded size, no other process to be seen, no capabilities, and its end with the parent's.
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
    /^\/./.test(path) && !mounts.some(({ path: laid }) => isWithin(laid, path));
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
    // What is left to write on would be without a bound.
    ...[...covers.reverse(), '/dev', '/'].flatMap((path) => ['--remount-ro', path]),
  ];
}

const MOUNTED = {
  readable: (path: string) => ['--ro-bind', path, path],
  writable: (path: string) => ['--bind', path, path],
  empty: (path: string) => ['--tmpfs', path],
} as const;
