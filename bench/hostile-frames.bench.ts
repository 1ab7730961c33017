import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { neighbour } from './harness/neighbour.js';
import { cpuSeconds, residentMb } from './harness/process-figures.js';
import { atMost, informs } from './harness/rows.js';
import { clientFrame, flood } from './hostile/flood.js';

const FRAMES = 400_000;
const POLL_MS = 100;
const MAX_WAIT_MS = 250;
const MAX_GROWTH_MB = 32;
const WITHIN_MS = 30_000;
/** The default limits: the benchmark measures how the gateway defends itself. */
const DEFAULT_LIMITS = {
  GATEWAY__RATE_LIMITS__SESSIONS_READ: '50',
  GATEWAY__RATE_LIMITS__SESSIONS_WRITE: '10',
};

const KINDS = [
  ['pings', clientFrame(1, '{"type":"ping"}')],
  ['pings of the protocol', clientFrame(9, 'x'.repeat(100))],
  ['what is no JSON', clientFrame(1, '{')],
] as const;

/** What a client that floods a session's WebSocket and never reads does to its neighbours and to memory. */
export const hostileFrames: Benchmark = { name: 'hostile-frames', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [what, frame] of KINDS) {
    const gateway = await bench.gateway({ dataDir: await bench.dataDir(), environment: DEFAULT_LIMITS });
    rows.push(...(await flooded(gateway, what, frame)));
    await gateway.stop();
  }
  return rows;
}

async function flooded(gateway: GatewayProcess, what: string, frame: Buffer): Promise<Row[]> {
  const { pid, portB, token, headers } = gateway;
  const base = `http://127.0.0.1:${portB}/api/v1/sessions`;
  const created = await fetch(base, { method: 'POST', headers });
  if (!created.ok) throw new Error(`No session could be made: ${created.status} ${await created.text()}`);
  const { id } = (await created.json()) as { id: string };
  const before = residentMb(pid);
  let peak = before;
  const memory = setInterval(() => {
    peak = Math.max(peak, residentMb(pid));
  }, POLL_MS);
  const waits = neighbour(`http://127.0.0.1:${gateway.operationsPort}/livez`);
  const cpuBefore = cpuSeconds(pid);
  const startedAt = performance.now();
  const url = new URL(`http://127.0.0.1:${portB}/ws/sessions/${id}`);
  const opened = await flood(url, token, frame, FRAMES, { atOnce: 4, withinMs: WITHIN_MS });
  if (opened === 0) throw new Error(`Nothing was flooded with ${what}: every connection was refused.`);
  const seconds = (performance.now() - startedAt) / 1000;
  const share = ((cpuSeconds(pid) - cpuBefore) / seconds) * 100;
  clearInterval(memory);
  const { slowestMs, count } = await waits.stop();
  const path = `${FRAMES.toLocaleString('en')} ${what}, never read`;
  const measured = `${opened} connections in ${seconds.toFixed(1)} s`;
  return [
    atMost(
      { path: `${path}: slowest answer to a neighbour`, measured: `${count} answers`, baseline: '' },
      slowestMs,
      MAX_WAIT_MS,
      'ms',
    ),
    atMost({ path: `${path}: memory more`, measured, baseline: '' }, peak - before, MAX_GROWTH_MB, 'MB'),
    informs({ path: `${path}: CPU`, measured, baseline: '' }, `${share.toFixed(0)} % of a core`),
  ];
}
