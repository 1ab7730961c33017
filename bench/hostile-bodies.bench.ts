import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { neighbour } from './harness/neighbour.js';
import { cpuSeconds } from './harness/process-figures.js';
import { atMost } from './harness/rows.js';
import { median } from './harness/statistics.js';
import { TIMING } from './harness/timing.js';
import { type Attack, attacks, ordinaryBody } from './hostile/bodies.js';

const MIB = 1_048_576;
const LARGEST = 28 * MIB - 1024;
const MOST_RATIO = 3;
const MOST_ANSWER_MS = 2000;
const MOST_WAIT_MS = 250;
/** Requests of one slot: enough for a clock of 10 ms. */
const AT_ONE_MIB = 20;
const AT_LARGEST = 3;
const TOGETHER = 4;

/** What refusing a hostile body costs, against reading an ordinary one of as many bytes, and how long others wait. */
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

/** The ordinary body is read and validated whole, and then meets a session that has ended: no turn is part of it. */
async function refusals(gateway: GatewayProcess, ended: string, bytes: number, count: number): Promise<Row> {
  const ordinary: Attack = {
    what: 'an ordinary message',
    method: 'POST',
    path: messagesOf(ended),
    body: ordinaryBody(bytes),
    status: 409,
  };
  const kinds = attacks(messagesOf(ended), bytes);
  const ratios = new Map<string, number[]>(kinds.map(({ what }) => [what, []]));
  const baseline: number[] = [];
  // The first round warms up.
  for (let round = -1; round < TIMING.rounds; round += 1) {
    const whole = await cpuMs(gateway, ordinary, count);
    if (round >= 0) baseline.push(whole);
    for (const kind of kinds) {
      const refused = await cpuMs(gateway, kind, count);
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
    MOST_RATIO,
    '×',
  );
}

/** Several of the largest bodies at once, of every kind, beside somebody who asks `/livez`. */
async function largeAtOnce(gateway: GatewayProcess, ended: string): Promise<Row[]> {
  const ordinary = { method: 'POST', path: messagesOf(ended), body: ordinaryBody(LARGEST), status: 409 };
  const kinds = [{ what: 'ordinary', ...ordinary }, ...attacks(messagesOf(ended), LARGEST)];
  // Making them keeps this process busy, which the neighbour is part of.
  const waits = neighbour(`http://127.0.0.1:${gateway.operationsPort}/livez`);
  const times: number[] = [];
  for (const one of kinds) {
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: TOGETHER }, () => send(gateway, one)));
    times.push((performance.now() - startedAt) / TOGETHER);
  }
  const { slowestMs } = await waits.stop();
  const path = `${TOGETHER} bodies of 28 MiB at once`;
  return [
    atMost(
      { path: `${path}: each answered`, measured: `the slowest of ${kinds.length} kinds`, baseline: '' },
      Math.max(...times),
      MOST_ANSWER_MS,
      'ms',
    ),
    atMost(
      { path: `${path}: slowest /livez meanwhile`, measured: '', baseline: '' },
      slowestMs,
      MOST_WAIT_MS,
      'ms',
    ),
  ];
}

async function cpuMs(gateway: GatewayProcess, attack: Attack, count: number): Promise<number> {
  const before = cpuSeconds(gateway.pid);
  for (let sent = 0; sent < count; sent += 1) await send(gateway, attack);
  return ((cpuSeconds(gateway.pid) - before) * 1000) / count;
}

async function send({ portB, headers }: GatewayProcess, attack: Attack): Promise<void> {
  const { what, method, path, body, status } = attack;
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
