import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { atMost } from './harness/rows.js';
import { median } from './harness/statistics.js';

const STARTS = 5;

/** From the start of the process to the first 200 of `/readyz`, with the embedded database. */
export const start: Benchmark = { name: 'start', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const first: number[] = [];
  const present: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    const dataDir = await bench.dataDir();
    first.push(await startOnce(bench, dataDir));
    present.push(await startOnce(bench, dataDir));
  }
  return [
    startRow('Start to ready, embedded database present', present, 2000),
    startRow('Start to ready, very first start', first, 3000),
  ];
}

/** The database is the gateway's own and stops with it. */
async function startOnce(bench: Bench, dataDir: string): Promise<number> {
  const gateway = await bench.gateway({ dataDir });
  await gateway.stop();
  return gateway.readyAfterMs;
}

function startRow(path: string, times: readonly number[], maxMs: number): Row {
  const measured = `${STARTS} starts, ${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))} ms`;
  return atMost({ path, measured, baseline: '' }, median(times), maxMs, 'ms');
}
