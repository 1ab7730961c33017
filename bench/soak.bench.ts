import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { residentMb } from './harness/process-figures.js';
import { atMost, informs } from './harness/rows.js';
import { median } from './harness/statistics.js';
import type { MixedLoadAnswer, MixedLoadConfig, MixedLoadQuestion } from './soak/mixed-load-process.js';
import type { ReceiverConfig } from './webhooks/receiver-process.js';

const MINUTES = Number(process.env['BENCH_SOAK_MINUTES'] ?? 20);
const POLL_MS = 5000;
/** The last quarter compared with the second: in the first one caches fill and code is compiled. */
const MAX_GROWTH = 1.05;

/** Whether memory stays flat under a long mixed load. */
export const soak: Benchmark = { name: 'soak', onlyByName: true, run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const database = await bench.database();
  const provider = await bench.provider();
  const receiver = await bench.helper<{ port: number }>('../webhooks/receiver-process.js', {
    delayMs: 0,
  } satisfies ReceiverConfig);
  const gateway = await bench.gateway({
    databaseUrl: database.url,
    providerUrl: provider.url,
    environment: { GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always' },
  });
  await registerHook(gateway.portB, gateway.headers, receiver.ready.port);
  const load = await bench.helper<true, MixedLoadQuestion, MixedLoadAnswer>('../soak/mixed-load-process.js', {
    portA: gateway.port,
    portB: gateway.portB,
    operationsPort: gateway.operationsPort,
    token: gateway.token,
  } satisfies MixedLoadConfig);
  const looks: number[] = [];
  const answer = load.ask({ durationMs: MINUTES * 60_000 });
  const over = answer.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([over, sleep(POLL_MS, false)]))) looks.push(residentMb(gateway.pid));
  const { done, failures, firstFailure } = await answer;
  for (const target of [load, gateway, receiver, provider]) await target.stop();
  await database.drop();
  if (failures > 0) throw new Error(`${failures} answers were wrong, the first: ${firstFailure}`);
  return rowsOf(looks, done);
}

function rowsOf(looks: readonly number[], done: Readonly<Record<string, number>>): Row[] {
  const quarter = (n: number) =>
    median(looks.slice((looks.length * (n - 1)) / 4, (looks.length * n) / 4).map(Math.round));
  const quarters = [1, 2, 3, 4].map(quarter);
  const [, second = Number.NaN, , last = Number.NaN] = quarters;
  const path = `Memory over ${MINUTES} minutes of mixed load`;
  const measured = `${quarters.join(', ')} MB by quarters, at most ${Math.round(Math.max(...looks))} MB`;
  const works = Object.entries(done).map(([kind, times]) => `${times} × ${kind}`);
  return [
    atMost({ path, measured, baseline: `second quarter: ${second} MB` }, last / second, MAX_GROWTH, '×'),
    informs({ path: `${path}: what was done`, measured: works.join(', '), baseline: '' }, ''),
  ];
}

async function registerHook(
  port: number,
  headers: Readonly<Record<string, string>>,
  receiverPort: number,
): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/hooks`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      url: `http://127.0.0.1:${receiverPort}/`,
      events: ['session.created', 'message.sent'],
    }),
  });
  if (!answer.ok) throw new Error(`The hook was refused: ${answer.status} ${await answer.text()}`);
}
