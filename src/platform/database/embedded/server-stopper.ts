import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../logging/logger.js';
import { codeOf } from './embedded-postgres.error.js';
import { findPostmaster, isPostmaster } from './postmaster-file.js';

const pollMs = 5;

/** Fast: ends connections, writes everything down. Immediate: leaves the rest to recovery at the next start. */
const steps = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
] as const;

/** Stops the server of this cluster if one runs; at most 20 s. Call under the start lock. */
export async function stopServer(cluster: string, logger: Logger): Promise<void> {
  const postmaster = await findPostmaster(cluster);
  if (postmaster === undefined) return;
  for (const { signal, waitMs } of steps) {
    send(postmaster.pid, signal);
    if (await endsWithin(postmaster.pid, cluster, waitMs)) return;
    logger.warn('the embedded server does not stop', { pid: postmaster.pid, signal });
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

async function endsWithin(pid: number, cluster: string, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    if (!(await isPostmaster(pid, cluster))) return true;
    await sleep(pollMs);
  }
  return false;
}
