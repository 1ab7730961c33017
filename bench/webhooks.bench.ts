import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { BenchDatabase } from './harness/database-server.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import type { Helper } from './harness/helper.js';
import { atLeast, atMost, informs, short } from './harness/rows.js';
import { median } from './harness/statistics.js';
import { createHooks, fillBareOutbox, fillOutbox, startDeliveries } from './webhooks/outbox.js';
import type { ReceiverAnswer, ReceiverQuestion } from './webhooks/receiver-process.js';

const HOOKS = 100;
const ROUNDS = 3;
const TELLING_HOOKS = 10;
const SESSIONS = 500;
const SESSION_EVERY_MS = 20;

type Receiver = Helper<{ port: number }, ReceiverQuestion, ReceiverAnswer>;

interface Case {
  readonly path: string;
  readonly hooks: number;
  readonly delayMs: number;
  readonly deliveries: number;
  /**
   * Deliveries that the bare loop has in flight. With a slow receiver as many as there are hooks, since each hook is
   * in order.
   */
  readonly bareAtOnce: number;
  /** Undefined for a row without a goal. */
  readonly goal?: number;
}

const CASES: readonly Case[] = [
  {
    path: 'Webhooks, receiver at 0 ms',
    hooks: HOOKS,
    delayMs: 0,
    deliveries: 20_000,
    bareAtOnce: 32,
    goal: 0.8,
  },
  {
    path: 'Webhooks, receiver at 50 ms',
    hooks: HOOKS,
    delayMs: 50,
    deliveries: 6000,
    bareAtOnce: HOOKS,
    goal: 0.8,
  },
  { path: 'Webhooks, one hook in order', hooks: 1, delayMs: 0, deliveries: 5000, bareAtOnce: 1 },
];

/** Sends a full outbox, compared with a bare loop over the same HTTP client; and how soon a first attempt arrives. */
export const webhooks: Benchmark = { name: 'webhooks', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const database = await bench.database();
  const gateway = await bench.gateway({
    databaseUrl: database.url,
    environment: { GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always' },
  });
  const rows: Row[] = [];
  for (const one of CASES) rows.push(await throughput(bench, database, one));
  rows.push(await firstAttempts(bench, database, gateway));
  await gateway.stop();
  await database.drop();
  return rows;
}

async function throughput(bench: Bench, database: BenchDatabase, one: Case): Promise<Row> {
  const { path, hooks, delayMs, deliveries, bareAtOnce, goal } = one;
  const receiver: Receiver = await bench.helper('../webhooks/receiver-process.js', { delayMs });
  const bare = await bench.helper<true, object, true>('../webhooks/bare-loop-process.js', {
    databaseUrl: database.url,
    atOnce: bareAtOnce,
  });
  const { port } = receiver.ready;
  await createHooks(database, hooks, port);
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round += 1) {
    await fillOutbox(database, deliveries);
    await startDeliveries(database);
    const sent = deliveries / (await receiver.ask({ deliveries })).seconds;
    await fillBareOutbox(database, deliveries, port);
    await bare.ask({});
    const bareSent = deliveries / (await receiver.ask({ deliveries })).seconds;
    // The first round warms both up.
    if (round > 0) ours.push(sent);
    if (round > 0) theirs.push(bareSent);
  }
  await bare.stop();
  await receiver.stop();
  const ratio = median(ours.map((rate, round) => rate / (theirs[round] ?? Number.NaN)));
  const about = {
    path,
    measured: `${hooks} hooks, ${perSecond(median(ours))}`,
    baseline: `bare loop, ${bareAtOnce} at a time: ${perSecond(median(theirs))}`,
  };
  if (goal !== undefined) return atLeast(about, ratio, goal);
  return informs(about, `${ratio.toFixed(2)} ×`);
}

async function firstAttempts(bench: Bench, database: BenchDatabase, gateway: GatewayProcess): Promise<Row> {
  const receiver: Receiver = await bench.helper('../webhooks/receiver-process.js', { delayMs: 0 });
  await fillOutbox(database, 0);
  await createHooks(database, TELLING_HOOKS, receiver.ready.port);
  await startDeliveries(database);
  const arrived = receiver.ask({ deliveries: SESSIONS * TELLING_HOOKS });
  for (let made = 0; made < SESSIONS; made += 1) {
    await createSession(gateway);
    await sleep(SESSION_EVERY_MS);
  }
  const { p50Ms, p99Ms } = await arrived;
  await receiver.stop();
  return atMost(
    {
      path: 'Webhooks, first attempt after commit, p99',
      measured: `${SESSIONS} events to ${TELLING_HOOKS} hooks, p50 ${short(p50Ms)} ms`,
      baseline: '',
    },
    p99Ms,
    250,
    'ms',
  );
}

async function createSession({ port, headers }: GatewayProcess): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/sessions`, { method: 'POST', headers });
  if (answer.status !== 201) throw new Error(`POST /sessions answered ${answer.status}.`);
  await answer.arrayBuffer();
}

function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString('en')}/s`;
}
