import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { atMost } from './harness/rows.js';
import { median } from './harness/statistics.js';

const STARTS = 5;

interface Times {
  readonly first: number[];
  readonly present: number[];
}

/**
 * From the start of the process to the first 200 from `/readyz`, with the embedded database; with
 * BENCH_AGAINST=<folder> in turn with the build there.
 */
export const start: Benchmark = { name: 'start', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const checkout = process.env['BENCH_AGAINST'];
  const mine: Times = { first: [], present: [] };
  const other: Times = { first: [], present: [] };
  for (let i = 0; i < STARTS; i += 1) {
    await startTwice(bench, mine, undefined);
    if (checkout) await startTwice(bench, other, checkout);
  }
  const rows = [
    startRow('Start to ready, embedded database present', mine.present, 1500),
    startRow('Start to ready, very first start', mine.first, 2500),
  ];
  if (!checkout) return rows;
  return [
    ...rows,
    againstRow('Start to ready, embedded database present: against', mine.present, other.present, checkout),
    againstRow('Start to ready, very first start: against', mine.first, other.first, checkout),
  ];
}

async function startTwice(bench: Bench, times: Times, checkout: string | undefined): Promise<void> {
  const dataDir = await bench.dataDir();
  times.first.push(await startOnce(bench, dataDir, checkout));
  times.present.push(await startOnce(bench, dataDir, checkout));
}

/** The database belongs to the gateway and stops with it. */
async function startOnce(bench: Bench, dataDir: string, checkout: string | undefined): Promise<number> {
  const gateway = await bench.gateway({ dataDir, checkout });
  await gateway.stop();
  return gateway.readyAfterMs;
}

function startRow(path: string, times: readonly number[], maxMs: number): Row {
  return atMost({ path, measured: rangeOf(times), baseline: '' }, median(times), maxMs, 'ms');
}

/** The goal applies to a day on which the other build takes 2.7 and 3.8 s. */
function againstRow(
  path: string,
  times: readonly number[],
  others: readonly number[],
  checkout: string,
): Row {
  const baseline = `${checkout}: ${Math.round(median(others))} ms, ${rangeOf(others)}`;
  const ratio = median(times.map((time, round) => time / (others[round] ?? Number.NaN)));
  return atMost({ path, measured: rangeOf(times), baseline }, ratio, 0.6, '×');
}

function rangeOf(times: readonly number[]): string {
  return `${times.length} starts, ${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))} ms`;
}
