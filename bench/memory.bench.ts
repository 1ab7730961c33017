import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { residentMb } from './harness/process-figures.js';
import { atMost } from './harness/rows.js';
import { seedSessions } from './harness/seed.js';

const IDLE_MS = 10_000;
const LOAD_MS = 2500;
const MAX_MB = 160;

/** Memory of the gateway process: after a start, and after load. */
export const memory: Benchmark = { name: 'memory', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const database = await bench.database();
  const provider = await bench.provider();
  const gateway = await bench.gateway({ databaseUrl: database.url, providerUrl: provider.url });
  await sleep(IDLE_MS);
  const afterStart = residentMb(gateway.pid);
  await work(bench, gateway, await seedSessions(database, 64));
  const afterLoad = residentMb(gateway.pid);
  await sleep(IDLE_MS);
  const afterRest = residentMb(gateway.pid);
  await gateway.stop();
  await provider.stop();
  await database.drop();
  const after = `${Math.round(afterLoad)} MB at its end`;
  return [
    atMost({ path: 'Memory, idle after the start', measured: '', baseline: '' }, afterStart, MAX_MB, 'MB'),
    atMost({ path: 'Memory, idle after load', measured: after, baseline: '' }, afterRest, MAX_MB, 'MB'),
  ];
}

async function work(bench: Bench, { port, headers }: GatewayProcess, ids: readonly string[]): Promise<void> {
  const slot = { port, clients: 64, durationMs: LOAD_MS };
  const json = { ...headers, 'Content-Type': 'application/json' };
  const made = { ...slot, method: 'POST', headers: json } as const;
  await bench.load({ ...made, paths: ['/api/v1/sessions'], body: '{}' });
  await bench.load({ ...slot, method: 'GET', headers, paths: ids.map((id) => `/api/v1/sessions/${id}`) });
  await bench.load({ ...slot, method: 'GET', headers, paths: ['/api/v1/sessions'] });
  const talks = ids.map((id) => `/api/v1/sessions/${id}/messages`);
  await bench.load({ ...made, paths: talks, ownPaths: true, body: '{"content":"How fast is this?"}' });
}
