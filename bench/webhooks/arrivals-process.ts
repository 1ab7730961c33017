import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveHelper } from '../harness/serve-helper.js';

/** Waits until this many deliveries have arrived for the first time since the last question, at most this long. */
export interface ArrivalsQuestion {
  readonly deliveries: number;
  readonly withinMs: number;
}

export interface ArrivalsAnswer {
  /** Milliseconds from each event to its first arrival, ascending. */
  readonly agesMs: number[];
  /** Deliveries that arrived more than once. */
  readonly repeated: number;
}

/** `/live/…` answers at once, `/hang/…` never, `/late/…` after any time-out. Only live receivers are measured. */
await serveHelper(async () => {
  let agesMs: number[] = [];
  let repeated = 0;
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const path = request.url ?? '';
      if (path.startsWith('/hang')) return;
      if (path.startsWith('/late')) {
        setTimeout(() => response.end(), 20_000);
        return;
      }
      response.end();
      const delivery = `${path} ${String(request.headers['webhook-id'])}`;
      if (seen.has(delivery)) {
        repeated += 1;
        return;
      }
      seen.add(delivery);
      agesMs.push(Date.now() - Date.parse(/"timestamp":"([^"]+)"/.exec(body)?.[1] ?? ''));
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ready: { port: (server.address() as AddressInfo).port },
    answer: async ({ deliveries, withinMs }: ArrivalsQuestion): Promise<ArrivalsAnswer> => {
      const until = performance.now() + withinMs;
      while (agesMs.length < deliveries && performance.now() < until)
        await new Promise((resolve) => setTimeout(resolve, 10));
      const answer = { agesMs: agesMs.sort((one, other) => one - other), repeated };
      agesMs = [];
      repeated = 0;
      return answer;
    },
  };
});
