import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveHelper } from '../harness/serve-helper.js';
import { percentile } from '../harness/statistics.js';

export interface ReceiverConfig {
  /** How long it takes to answer each delivery. */
  readonly delayMs: number;
}

/** Waits until this many deliveries have arrived since the last question. */
export interface ReceiverQuestion {
  readonly deliveries: number;
}

export interface ReceiverAnswer {
  /** From the first to the last arrival. */
  readonly seconds: number;
  /** From the event's timestamp to its arrival; NaN when bodies have none. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Receives deliveries and answers 200 to each. */
await serveHelper(async ({ delayMs }: ReceiverConfig) => {
  let ages: number[] = [];
  let [firstAt, lastAt] = [0, 0];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (text: string) => (body += text));
    request.on('end', () => {
      lastAt = performance.now();
      if (ages.length === 0) firstAt = lastAt;
      ages.push(Date.now() - Date.parse(/"timestamp":"([^"]+)"/.exec(body)?.[1] ?? ''));
      if (delayMs === 0) response.end();
      else setTimeout(() => response.end(), delayMs);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ready: { port: (server.address() as AddressInfo).port },
    answer: async ({ deliveries }: ReceiverQuestion): Promise<ReceiverAnswer> => {
      while (ages.length < deliveries) await new Promise((resolve) => setTimeout(resolve, 10));
      const ascending = ages.sort((one, other) => one - other);
      const answer = {
        seconds: (lastAt - firstAt) / 1000,
        p50Ms: percentile(ascending, 0.5),
        p99Ms: percentile(ascending, 0.99),
      };
      ages = [];
      return answer;
    },
  };
});
