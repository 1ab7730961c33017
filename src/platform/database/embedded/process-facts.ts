import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

const onLinux = process.platform === 'linux';

/**
 * When a process started, as the kernel writes it: with the pid it identifies one process. Undefined for a process that
 * is gone, or a zombie.
 */
export function processStart(pid: number): string | undefined {
  try {
    return onLinux ? startFromProc(pid) : startFromPs(pid);
  } catch {
    return undefined;
  }
}

function startFromProc(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The command stands in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function startFromPs(pid: number): string | undefined {
  const line = ps(pid, 'stat=,lstart=');
  const [state = 'Z', ...start] = line.split(/\s+/);
  return state.startsWith('Z') ? undefined : start.join(' ');
}

/** The command line of a process on systems without /proc. Throws when it is gone. */
export function commandFromPs(pid: number): string {
  return ps(pid, 'command=');
}

function ps(pid: number, columns: string): string {
  return execFileSync('/bin/ps', ['-ww', '-o', columns, '-p', String(pid)], {
    encoding: 'utf8',
    env: { LC_ALL: 'C' },
    timeout: 5_000,
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** Pids can only be compared within the same scope: one boot of one machine, or one container. */
export function pidScope(): string {
  if (!onLinux) return hostname();
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
}
