import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** What happens between two processes takes several turns on a core, and on a busy machine each of them is late. */
const TURNS = 5;

/** A script as text, because a thread of a test cannot load TypeScript. */
const WATCHING = `
  const { parentPort } = require('node:worker_threads');
  const PAUSE_MS = 10;
  let lagMs = 0;
  let dueAt = performance.now() + PAUSE_MS;
  const note = () => {
    const now = performance.now();
    lagMs = Math.max(lagMs, now - dueAt);
    dueAt = now + PAUSE_MS;
  };
  const timer = setInterval(note, PAUSE_MS);
  parentPort.once('message', () => {
    note();
    clearInterval(timer);
    parentPort.postMessage(lagMs);
  });
  parentPort.postMessage('watching');`;

/**
 * How long the main thread of this process was ready to run but had no core, in milliseconds; 0 where the kernel does
 * not say.
 */
function waitedForCoreMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** What the machine itself may make late, from now on. */
export interface MachineWatch {
  /** In milliseconds: how long this thread waited for a core, and how late timers of another thread were. */
  stop(): Promise<number>;
}

/** Blocking this process's own event loop is not excused. A watch that nobody stops, as after a failure, holds up no exit. */
export async function watchMachine(): Promise<MachineWatch> {
  const machine = new Worker(WATCHING, { eval: true });
  await once(machine, 'message');
  machine.unref();
  const waitedBefore = waitedForCoreMs();
  return {
    stop: async () => {
      const waitedMs = waitedForCoreMs() - waitedBefore;
      machine.ref();
      machine.postMessage('stop');
      const [lagMs] = (await once(machine, 'message')) as [number];
      await machine.terminate();
      return waitedMs + TURNS * lagMs;
    },
  };
}

/**
 * Does the work, which may take `withinMs` on a free machine. The machine's own delays are added, since other processes
 * were as late.
 */
export async function promptly<Result>(withinMs: number, work: () => Promise<Result>): Promise<Result> {
  const machine = await watchMachine();
  const startedAt = performance.now();
  let grantedMs = 0;
  let tookMs = 0;
  const result = await work().finally(async () => {
    tookMs = performance.now() - startedAt;
    grantedMs = await machine.stop();
  });
  expect(tookMs).toBeLessThan(withinMs + grantedMs);
  return result;
}
