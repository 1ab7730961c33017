import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { neighbour } from './harness/neighbour.js';
import { cpuSeconds } from './harness/process-figures.js';
import { atMost } from './harness/rows.js';
import { median } from './harness/statistics.js';
import { TIMING } from './harness/timing.js';
import {
  ATTACKS_BY_MESSAGE,
  ATTACKS_ELSEWHERE,
  type Attack,
  MAX_OTHER_BYTES,
  ORDINARY,
} from './hostile/bodies.js';

const MIB = 1_048_576;
const LARGEST = 28 * MIB - 1024;
const MAX_RATIO = 3;
const MAX_ANSWER_MS = 2000;
const MAX_WAIT_MS = 250;
/** Requests per slot: enough for a clock with a resolution of 10 ms. */
const AT_ONE_MIB = 20;
const AT_LARGEST = 3;
const TOGETHER = 4;

/**
 * What refusing a hostile body costs, compared with reading an ordinary one of the same size, and how long others
 * wait.
 */
export const hostileBodies: Benchmark = { name: 'hostile-bodies', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const gateway = await bench.gateway({ dataDir: await bench.dataDir() });
  const ended = await endedSession(gateway);
  const rows: Row[] = [];
  for (const [bytes, count] of [
    [MIB - 64, AT_ONE_MIB],
    [LARGEST, AT_LARGEST],
  ] as const)
    rows.push(await refusals(gateway, ended, bytes, count));
  rows.push(...(await largeAtOnce(gateway, ended)));
  await gateway.stop();
  return rows;
}

async function refusals(gateway: GatewayProcess, ended: string, bytes: number, count: number): Promise<Row> {
  const kinds = bytes > MAX_OTHER_BYTES ? ATTACKS_BY_MESSAGE : [...ATTACKS_BY_MESSAGE, ...ATTACKS_ELSEWHERE];
  const cpuMs = async (attack: Attack): Promise<number> => {
    const body = attack.body(bytes);
    const before = cpuSeconds(gateway.pid);
    for (let sent = 0; sent < count; sent += 1) await send(gateway, ended, attack, body);
    return ((cpuSeconds(gateway.pid) - before) * 1000) / count;
  };
  const ratios = new Map<string, number[]>(kinds.map(({ what }) => [what, []]));
  const baseline: number[] = [];
  // The first round warms up.
  for (let round = -1; round < TIMING.rounds; round += 1) {
    const whole = await cpuMs(ORDINARY);
    if (round >= 0) baseline.push(whole);
    for (const kind of kinds) {
      const refused = await cpuMs(kind);
      if (round >= 0) ratios.get(kind.what)?.push(refused / whole);
    }
  }
  const worst = kinds
    .map(({ what }) => ({ what, ratio: median(ratios.get(what) ?? []) }))
    .reduce((one, other) => (other.ratio > one.ratio ? other : one));
  const size = `${Math.round(bytes / MIB)} MiB`;
  return atMost(
    {
      path: `CPU for refusing a hostile body of ${size}`,
      measured: `the worst of ${kinds.length}: ${worst.what}`,
      baseline: `an ordinary message of ${size}: ${median(baseline).toFixed(1)} ms`,
    },
    worst.ratio,
    MAX_RATIO,
    '×',
  );
}

/** Several of the largest bodies of each kind at once, while a neighbour requests `/livez`. */
async function largeAtOnce(gateway: GatewayProcess, ended: string): Promise<Row[]> {
  const kinds = [ORDINARY, ...ATTACKS_BY_MESSAGE];
  const waits = neighbour(`http://127.0.0.1:${gateway.operationsPort}/livez`);
  const times: number[] = [];
  for (const one of kinds) {
    const body = one.body(LARGEST);
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: TOGETHER }, () => send(gateway, ended, one, body)));
    times.push((performance.now() - startedAt) / TOGETHER);
  }
  const { slowestMs } = await waits.stop();
  const path = `${TOGETHER} bodies of 28 MiB at once`;
  return [
    atMost(
      { path: `${path}: each answered`, measured: `the slowest of ${kinds.length} kinds`, baseline: '' },
      Math.max(...times),
      MAX_ANSWER_MS,
      'ms',
    ),
    atMost(
      { path: `${path}: slowest /livez meanwhile`, measured: '', baseline: '' },
      slowestMs,
      MAX_WAIT_MS,
      'ms',
    ),
  ];
}

async function send(
  { portB, headers }: GatewayProcess,
  ended: string,
  { what, method, path = messagesOf(ended), status }: Attack,
  body: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${portB}/api/v1${path}`, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body,
  });
  const text = await response.text();
  if (response.status !== status)
    throw new Error(`${what} was answered ${response.status}: ${text.slice(0, 200)}`);
}

async function endedSession({ portB, headers }: GatewayProcess): Promise<string> {
  const base = `http://127.0.0.1:${portB}/api/v1/sessions`;
  const { id } = (await (await fetch(base, { method: 'POST', headers })).json()) as { id: string };
  const { ok } = await fetch(`${base}/${id}`, { method: 'DELETE', headers });
  if (!ok) throw new Error('The session could not be ended.');
  return id;
}

function messagesOf(sessionId: string): string {
  return `/sessions/${sessionId}/messages`;
}
