import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 5;

export interface Waits {
  readonly slowestMs: number;
  readonly count: number;
}

/** Somebody who asks the same small thing again and again, and notes how long it took, until `stop`. */
export function neighbour(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): { stop(): Promise<Waits> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  const stopping = new AbortController();
  const asking = (async () => {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      await ask(url, headers, agent);
      times.push(performance.now() - startedAt);
      await sleep(PAUSE_MS);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await asking;
      agent.destroy();
      return { slowestMs: Math.max(...times), count: times.length };
    },
  };
}

function ask(url: string, headers: Readonly<Record<string, string>>, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      response.resume();
      response.once('end', resolve);
    }).once('error', reject);
  });
}
