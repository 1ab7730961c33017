import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { residentMb } from './harness/process-figures.js';
import { atMost } from './harness/rows.js';
import { seedSessions } from './harness/seed.js';

const SHORT_MS = 10_000;
/** V8 gives back what a start or load took when nothing has happened for a while, some twenty seconds. */
const IDLE_MS = 60_000;
const LOAD_MS = 2500;
const MAX_MB = 160;

/** Memory of the gateway process: after a start, and after load. */
export const memory: Benchmark = { name: 'memory', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const database = await bench.database();
  const provider = await bench.provider();
  const gateway = await bench.gateway({ databaseUrl: database.url, providerUrl: provider.url });
  const atStart = await rested(gateway.pid);
  await work(bench, gateway, await seedSessions(database, 64));
  const afterLoad = residentMb(gateway.pid);
  const atRest = await rested(gateway.pid);
  await gateway.stop();
  await provider.stop();
  await database.drop();
  const after = `${Math.round(afterLoad)} MB at its end`;
  return [...rows('after the start', '', atStart), ...rows('after load', after, atRest)];
}

interface Rested {
  readonly soon: number;
  readonly idle: number;
}

async function rested(pid: number): Promise<Rested> {
  await sleep(SHORT_MS);
  const soon = residentMb(pid);
  await sleep(IDLE_MS - SHORT_MS);
  return { soon, idle: residentMb(pid) };
}

function rows(when: string, measured: string, { soon, idle }: Rested): Row[] {
  const at = (path: string) => ({ path: `Memory, ${path} ${when}`, measured, baseline: '' });
  return [
    { ...at(`${SHORT_MS / 1000} s`), value: `${Math.round(soon)} MB`, goal: '', met: undefined },
    atMost(at('idle for a minute'), idle, MAX_MB, 'MB'),
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
