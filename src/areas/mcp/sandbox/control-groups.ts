import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** One control group hierarchy in which the gateway may make groups of its own. */
export interface Hierarchy {
  /** The folder in which they are made. */
  readonly folder: string;
  /** Files of a group that take a number of processes, or of bytes; the first must be there. */
  readonly processes: readonly string[];
  readonly memory: readonly string[];
  /** Files that are set as they stand, where they are there. */
  readonly fixed: Readonly<Record<string, string>>;
}

const CONTROLLERS = ['pids', 'memory'];
const PROCESSES = ['pids.max'];

/**
 * Where this process could make control groups, by what the kernel says of it: one folder in version 2, one for each
 * controller in version 1. Whether it really may is found out by trying.
 * @param mount where control groups are mounted
 * @param membership what `/proc/self/cgroup` says
 */
export function hierarchiesOf(mount: string, membership: string): readonly Hierarchy[] {
  const lines = membership.split('\n').map((line) => line.split(':'));
  const entries = lines.map(([, controllers = '', ...path]) => ({ controllers, path: path.join(':') }));
  const unified = entries.find(({ controllers, path }) => controllers === '' && path !== '');
  const second = unified === undefined ? undefined : delegated(mount, unified.path);
  if (second !== undefined) return [second];
  return entries.flatMap(({ controllers, path }) => {
    const names = controllers.split(',').filter((name) => CONTROLLERS.includes(name));
    const folder = join(mount, controllers, path);
    if (names.length === 0 || !existsSync(join(folder, 'cgroup.procs'))) return [];
    return [
      {
        folder,
        processes: names.includes('pids') ? PROCESSES : [],
        memory: names.includes('memory') ? ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes'] : [],
        fixed: {},
      },
    ];
  });
}

/**
 * Version 2 gives controllers only to groups beside those with processes. So the gateway has to be alone in a group below
 * the one that was delegated to it, as systemd's `Delegate=yes` with `DelegateSubgroup=` does; a slice is never ours.
 */
function delegated(mount: string, path: string): Hierarchy | undefined {
  const root = [mount, join(mount, 'unified')].find((at) => existsSync(join(at, 'cgroup.controllers')));
  if (root === undefined || path === '/') return undefined;
  const folder = dirname(join(root, path));
  if (folder === root || basename(folder).endsWith('.slice')) return undefined;
  if (!CONTROLLERS.every((controller) => wordsOf(join(folder, 'cgroup.controllers')).includes(controller)))
    return undefined;
  if (!enable(folder)) return undefined;
  const fixed = { 'memory.swap.max': '0', 'memory.oom.group': '1' };
  return { folder, processes: PROCESSES, memory: ['memory.max'], fixed };
}

/** Hands the controllers on to the groups below. @returns whether they have them */
function enable(folder: string): boolean {
  const file = join(folder, 'cgroup.subtree_control');
  const isGiven = () => CONTROLLERS.every((controller) => wordsOf(file).includes(controller));
  if (isGiven()) return true;
  try {
    writeFileSync(file, CONTROLLERS.map((controller) => `+${controller}`).join(' '));
  } catch {
    return false;
  }
  return isGiven();
}

function wordsOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').trim().split(/\s+/);
  } catch {
    return [];
  }
}
