import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The control groups of one child, one in each hierarchy. */
export interface ChildGroup {
  /** The `cgroup.procs` files to which the child writes its process id in order to join. */
  readonly members: readonly string[];
  /** Call it when the child has ended. */
  readonly release: () => void;
}

/** What one child and all its descendants may use together; 0 for no limit. */
export interface GroupLimits {
  readonly processes: number;
  readonly memoryMb: number;
}

const MIB = 1_048_576;
const RETRY_MS = 20;
const MAX_TRIES = 50;
const NAME_PREFIX = 'agent-gateway-';
const NO_GROUP: ChildGroup = { members: [], release: () => undefined };

/**
 * Creates control groups for children where the machine allows it; `boundsProcesses` and `boundsMemory` say whether it
 * does. Elsewhere children run without.
 */
export class ChildGroups {
  /** Counts over all gateways of this process, because they share the folder. */
  private static made = 0;
  private readonly left = new Set<string>();

  private constructor(private readonly hierarchies: readonly Hierarchy[]) {}

  /** Finds out by trying where groups can be made, and removes those that killed gateways left behind. */
  static detect(mount = '/sys/fs/cgroup', membershipFile = '/proc/self/cgroup'): ChildGroups {
    if (!existsSync(membershipFile)) return new ChildGroups([]);
    const candidates = hierarchiesOf(mount, readFileSync(membershipFile, 'utf8'));
    const groups = new ChildGroups(candidates.filter(worksIn));
    for (const { folder } of groups.hierarchies) sweep(folder);
    return groups;
  }

  get boundsProcesses(): boolean {
    return this.hierarchies.some(({ processes }) => processes.length > 0);
  }

  get boundsMemory(): boolean {
    return this.hierarchies.some(({ memory }) => memory.length > 0);
  }

  /** Creates the groups of one child, without those that can no longer be created. */
  make(limits: GroupLimits): ChildGroup {
    this.removeLeft();
    if (limits.processes === 0 && limits.memoryMb === 0) return NO_GROUP;
    ChildGroups.made += 1;
    const name = `${NAME_PREFIX}${process.pid}-${ChildGroups.made}`;
    const folders = this.hierarchies.flatMap((hierarchy) => {
      const folder = makeIn(hierarchy, name, limits);
      return folder === undefined ? [] : [folder];
    });
    const release = () => {
      for (const folder of folders) this.left.add(folder);
      this.removeLeft();
    };
    return { members: folders.map((folder) => join(folder, 'cgroup.procs')), release };
  }

  /** Resolves when the groups of all ended children are removed, or after a second. */
  async close(): Promise<void> {
    for (let tries = 0; this.left.size > 0 && tries < MAX_TRIES; tries += 1) {
      this.removeLeft();
      if (this.left.size > 0) await sleep(RETRY_MS);
    }
  }

  /** A group can only be removed when its last process is gone, so every call tries the remaining ones again. */
  private removeLeft(): void {
    for (const folder of this.left) if (remove(folder)) this.left.delete(folder);
  }
}

function makeIn(hierarchy: Hierarchy, name: string, limits: GroupLimits): string | undefined {
  const folder = join(hierarchy.folder, name);
  const limit = (files: readonly string[], value: number) => {
    // Only the first file has to exist.
    if (value > 0) for (const [index, file] of files.entries()) set(join(folder, file), value, index === 0);
  };
  try {
    mkdirSync(folder);
    limit(hierarchy.processes, limits.processes);
    limit(hierarchy.memory, limits.memoryMb * MIB);
    for (const [file, value] of Object.entries(hierarchy.fixed)) set(join(folder, file), value, false);
    return folder;
  } catch {
    remove(folder);
    return undefined;
  }
}

function set(file: string, value: string | number, isNeeded: boolean): void {
  try {
    writeFileSync(file, String(value));
  } catch (error) {
    if (isNeeded) throw error;
  }
}

/** Creates a group, puts a process into it, and removes it. */
function worksIn(hierarchy: Hierarchy): boolean {
  const folder = makeIn(hierarchy, `${NAME_PREFIX}${process.pid}-trial`, { processes: 8, memoryMb: 64 });
  if (folder === undefined) return false;
  try {
    execFileSync('/bin/sh', ['-c', 'echo "$$" >"$1"', 'trial', join(folder, 'cgroup.procs')], {
      stdio: 'ignore',
      timeout: 2000,
    });
    return true;
  } catch {
    return false;
  } finally {
    remove(folder);
  }
}

function sweep(folder: string): void {
  const names = readdirSync(folder).filter((name) => name.startsWith(NAME_PREFIX));
  for (const name of names) {
    const pid = Number(name.slice(NAME_PREFIX.length).split('-')[0]);
    if (!existsSync(`/proc/${pid}`)) remove(join(folder, name));
  }
}

function remove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return !existsSync(folder);
  }
}

/** One control group hierarchy in which the gateway may create groups. */
export interface Hierarchy {
  /** The folder in which they are created. */
  readonly folder: string;
  /** Files of a group that take a number of processes, or of bytes; the first must exist. */
  readonly processes: readonly string[];
  readonly memory: readonly string[];
  /** Files that get a fixed value if they exist. */
  readonly fixed: Readonly<Record<string, string>>;
}

const CONTROLLERS = ['pids', 'memory'];
const PROCESSES = ['pids.max'];

/**
 * Where this process could create control groups, judged by its own membership: one folder in version 2, one for each
 * controller in version 1. Whether it really may is found out by trying.
 * @param mount where control groups are mounted
 * @param membership the text of `/proc/self/cgroup`
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
 * In version 2 a group that hands out controllers may hold no processes itself. So the gateway has to be alone in a group
 * below the one that was delegated to it, as systemd's `Delegate=yes` with `DelegateSubgroup=` arranges. A slice is never
 * ours.
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

/** Enables the controllers for the groups below. @returns whether they are enabled */
function enable(folder: string): boolean {
  const file = join(folder, 'cgroup.subtree_control');
  const isEnabled = () => CONTROLLERS.every((controller) => wordsOf(file).includes(controller));
  if (isEnabled()) return true;
  try {
    writeFileSync(file, CONTROLLERS.map((controller) => `+${controller}`).join(' '));
  } catch {
    return false;
  }
  return isEnabled();
}

function wordsOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').trim().split(/\s+/);
  } catch {
    return [];
  }
}
