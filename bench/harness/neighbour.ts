import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const PAUSE_MS = 10;

export interface Waits {
  readonly slowestMs: number;
  readonly count: number;
  /** How late its own timer was at most: the delay that a busy machine adds to every wait. */
  readonly lagMs: number;
}

/** A script as text, because a thread of a test cannot load TypeScript. */
const ASKING = `
  const { parentPort, workerData: { url, headers, pauseMs } } = require('node:worker_threads');
  const { Agent, get } = require('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = () => new Promise((resolve, reject) => {
    get(url, { agent, headers }, (answer) => {
      answer.resume();
      if (answer.statusCode !== 200) reject(new Error('A neighbour was answered ' + answer.statusCode + '.'));
      answer.once('error', reject).once('end', resolve);
    }).once('error', reject);
  });
  let isOver = false;
  parentPort.once('message', () => (isOver = true));
  (async () => {
    let slowestMs = 0;
    let count = 0;
    let lagMs = 0;
    do {
      const startedAt = performance.now();
      await ask();
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      count += 1;
      const dueAt = performance.now() + pauseMs;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      lagMs = Math.max(lagMs, performance.now() - dueAt);
    } while (!isOver);
    agent.destroy();
    parentPort.postMessage({ slowestMs, count, lagMs });
  })();`;

/**
 * A neighbour that sends the same small request again and again until `stop`. It runs in its own thread, because
 * creating and sending large bodies keeps this one busy. `pauseMs` keeps it below its own rate limit. `stop` rejects
 * when a response was not 200.
 */
export function neighbour(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  pauseMs = PAUSE_MS,
): { stop(): Promise<Waits> } {
  const worker = new Worker(ASKING, { eval: true, workerData: { url, headers, pauseMs } });
  const waits = once(worker, 'message').then(([said]) => said as Waits);
  waits.catch(() => undefined);
  return {
    stop: async () => {
      worker.postMessage('stop');
      const said = await waits;
      await worker.terminate();
      return said;
    },
  };
}
