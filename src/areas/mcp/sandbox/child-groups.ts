import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hierarchy, hierarchiesOf } from './control-groups.js';

/** The control groups of one child. */
export interface ChildGroup {
  /** What the child writes its number to, to be in them. */
  readonly members: readonly string[];
  /** To be called when the child has ended. */
  readonly release: () => void;
}

/** What one child and all that it starts may use together; 0 for no limit. */
export interface GroupLimits {
  readonly processes: number;
  readonly memoryMb: number;
}

const MIB = 1_048_576;
const BETWEEN_TRIES_MS = 20;
const MAX_TRIES = 50;
const MARK = 'agent-gateway-';
const NO_GROUP: ChildGroup = { members: [], release: () => undefined };

/**
 * Makes control groups for children where the machine lets us; elsewhere it has none, and `boundsProcesses` and
 * `boundsMemory` say so.
 */
export class ChildGroups {
  /** Counted over all gateways of this process, which share the folder. */
  private static made = 0;
  private readonly left = new Set<string>();

  private constructor(private readonly hierarchies: readonly Hierarchy[]) {}

  /** Finds out by trying, and removes what gateways left that were killed. */
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

  /** A group for one child. What cannot be made any more is done without. */
  make(limits: GroupLimits): ChildGroup {
    this.removeLeft();
    if (limits.processes === 0 && limits.memoryMb === 0) return NO_GROUP;
    ChildGroups.made += 1;
    const name = `${MARK}${process.pid}-${ChildGroups.made}`;
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

  /** Resolves when all groups are removed whose children have ended, or after a second. */
  async close(): Promise<void> {
    for (let tries = 0; this.left.size > 0 && tries < MAX_TRIES; tries += 1) {
      this.removeLeft();
      if (this.left.size > 0) await sleep(BETWEEN_TRIES_MS);
    }
  }

  /** A group can go when its last process is really gone; until then it is tried again with the next. */
  private removeLeft(): void {
    for (const folder of this.left) if (remove(folder)) this.left.delete(folder);
  }
}

function makeIn(hierarchy: Hierarchy, name: string, limits: GroupLimits): string | undefined {
  const folder = join(hierarchy.folder, name);
  const limit = (files: readonly string[], value: number) => {
    // Beyond the first, what is not there is not needed.
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

/** Makes a group, puts a process into it, and removes it. */
function worksIn(hierarchy: Hierarchy): boolean {
  const folder = makeIn(hierarchy, `${MARK}${process.pid}-trial`, { processes: 8, memoryMb: 64 });
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
  const names = readdirSync(folder).filter((name) => name.startsWith(MARK));
  for (const name of names) {
    const pid = Number(name.slice(MARK.length).split('-')[0]);
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
