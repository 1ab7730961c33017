import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of the kernel's clock (USER_HZ): 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** CPU seconds that a process has used, in user and kernel mode. NaN where there is no /proc. */
export function cpuSeconds(pid: number): number {
  try {
    // The process name is in brackets and may contain anything; the fields after it are numbers.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
    return (Number(fields?.[11]) + Number(fields?.[12])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}

/** Resident memory of a process in MB (10^6 bytes). */
export function residentMb(pid: number): number {
  return (Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024) / 1e6;
}

/** Linux only. */
export function threadCount(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).length;
}

/** Files and sockets, Linux only. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
