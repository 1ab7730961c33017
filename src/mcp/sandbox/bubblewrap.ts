import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ChildCommand } from '../transport/child-command.js';

/** What one child may do beyond the common. */
export interface SandboxWishes {
  readonly writablePaths: readonly string[];
  readonly network: boolean;
}

/** What no child may see: folders and files of the gateway itself. */
export interface HiddenPlaces {
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

/** Where platforms put credentials for every process of a container, and where local servers have their sockets. */
const HIDDEN_FOLDERS = ['/run/secrets', '/var/run/secrets', '/run/postgresql', '/var/run/postgresql'];

/**
 * The program inside bubblewrap: everything readable and nothing writable but a `/tmp` of its own and what is granted,
 * no other process to be seen, no capabilities, and its end with the parent's.
 */
export function bubblewrapped(
  command: ChildCommand,
  { writablePaths, network }: SandboxWishes,
  hidden: HiddenPlaces,
): ChildCommand {
  const { file, args, cwd } = command;
  const folders = present([...hidden.folders, ...HIDDEN_FOLDERS]);
  const files = present(hidden.files);
  const writable = writablePaths.map((path) => resolve(path));
  const here = cwd === undefined ? process.cwd() : resolve(cwd);
  return {
    ...command,
    file: 'bwrap',
    args: [
      ...['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'],
      ...(network ? [] : ['--unshare-net']),
      ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
      // The private /tmp would hide a program that is run from there.
      ...(here.startsWith('/tmp/') ? ['--ro-bind', here, here] : []),
      ...writable.flatMap((path) => ['--bind', path, path]),
      ...folders.flatMap((path) => ['--tmpfs', path]),
      ...files.flatMap((path) => ['--ro-bind', '/dev/null', path]),
      ...['--chdir', here, '--', file, ...args],
    ],
  };
}

/** What there is of these places, by the one name that each really has: nothing can be laid over a link. */
function present(paths: readonly string[]): readonly string[] {
  const there = paths.map((path) => resolve(path)).filter((path) => existsSync(path));
  return [...new Set(there.map((path) => realpathSync(path)))];
}
