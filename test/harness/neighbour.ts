import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const PAUSE_MS = 30;

/** Asks until it is told to stop, then says how long the slowest answer took. */
const ASKING = `
  const { parentPort, workerData: { url, headers, pauseMs } } = require('node:worker_threads');
  let isOver = false;
  parentPort.once('message', () => (isOver = true));
  (async () => {
    let slowestMs = 0;
    while (!isOver) {
      const startedAt = performance.now();
      const answer = await fetch(url, { headers });
      await answer.text();
      if (!answer.ok) throw new Error('A neighbour was answered ' + answer.status + '.');
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    parentPort.postMessage(slowestMs);
  })();`;

/**
 * Somebody else, who asks the same small thing again and again: in a thread of their own, since making and sending large
 * bodies keeps this one busy. @returns what ends it and says how long the slowest answer took, in milliseconds
 */
export function neighbour(url: string, headers: Record<string, string> = {}): () => Promise<number> {
  const worker = new Worker(ASKING, { eval: true, workerData: { url, headers, pauseMs: PAUSE_MS } });
  const slowest = once(worker, 'message').then(([slowestMs]) => Number(slowestMs));
  slowest.catch(() => undefined);
  return async () => {
    worker.postMessage('stop');
    const slowestMs = await slowest;
    await worker.terminate();
    return slowestMs;
  };
}
