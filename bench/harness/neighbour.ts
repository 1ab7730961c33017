import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const PAUSE_MS = 10;

export interface Waits {
  readonly slowestMs: number;
  readonly count: number;
  /** How late its own timer was at worst: what a busy machine adds to every wait. */
  readonly lagMs: number;
}

/** A script of its own, since a test's TypeScript cannot be loaded in a thread. */
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
 * A neighbour asks for the same small thing again and again, until `stop`: in a thread of its own, since making and sending
 * large bodies keeps this one busy. With the pause between two it stays below its own rate limit. `stop` rejects when an answer was not 200.
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
