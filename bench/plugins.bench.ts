import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { openFiles, residentMb, threadCount } from './harness/process-figures.js';
import { atMost } from './harness/rows.js';
import { median, percentile } from './harness/statistics.js';

/** Reloads until V8's heap has its full size. */
const WARM_UP = 200;
const RELOADS = 1000;
/** The last thread exits after its response was sent. */
const SETTLE_MS = 2000;

/** What a thousand reloads of a plugin leave behind, and how long one takes. */
export const plugins: Benchmark = { name: 'plugins', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const dataDir = await bench.dataDir();
  const directory = join(dataDir, 'plugins');
  await cp(resolve('plugins'), directory, { recursive: true });
  const environment = { GATEWAY__PLUGINS__DIRECTORY: directory };
  const gateway = await bench.gateway({ dataDir, environment });
  await reload(gateway, WARM_UP);
  const before = await figures(gateway.pid);
  const times = (await reload(gateway, RELOADS)).toSorted((one, other) => one - other);
  const after = await figures(gateway.pid);
  await gateway.stop();
  const path = `${RELOADS.toLocaleString('en')} reloads of a plugin`;
  const grown = (key: keyof typeof before) => after[key] - before[key];
  const measured = `${Math.round(before.mb)} MB before, ${Math.round(after.mb)} MB after; p99 ${percentile(times, 0.99).toFixed(1)} ms`;
  return [
    atMost({ path: `${path}: threads more`, measured: '', baseline: '' }, grown('threads'), 0, 'threads'),
    atMost({ path: `${path}: open files more`, measured: '', baseline: '' }, grown('files'), 0, 'files'),
    atMost({ path: `${path}: memory more`, measured, baseline: '' }, grown('mb'), 30, 'MB'),
    atMost({ path: 'A reload: p50', measured: '', baseline: '' }, median(times), 250, 'ms'),
  ];
}

async function figures(pid: number): Promise<{ threads: number; files: number; mb: number }> {
  await sleep(SETTLE_MS);
  return { threads: threadCount(pid), files: openFiles(pid), mb: residentMb(pid) };
}

/** @returns how long each reload took, in milliseconds */
async function reload({ portB, headers }: GatewayProcess, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let time = 0; time < count; time += 1) {
    const startedAt = performance.now();
    const url = `http://127.0.0.1:${portB}/api/v1/plugins/measures/reload`;
    const response = await fetch(url, { method: 'POST', headers });
    if (!response.ok) throw new Error(`A reload was answered ${response.status}: ${await response.text()}`);
    await response.text();
    times.push(performance.now() - startedAt);
  }
  return times;
}
