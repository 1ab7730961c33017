import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { BenchDatabase } from './harness/database-server.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import type { Helper } from './harness/helper.js';
import { cpuSeconds, residentMb } from './harness/process-figures.js';
import { atMost, informs, short } from './harness/rows.js';
import { median } from './harness/statistics.js';
import type { ReadersAnswer, ReadersQuestion } from './log-streams/readers-process.js';

const READERS = 1000;
const LINES_PER_TICK = 20;
const TICK_MS = 200;
const SLOT_MS = 5000;
const SLOTS = 3;
const SETTLE_MS = 3000;
const STOPPED_READERS = 50;
const FLOOD_LINES = 8000;

type Readers = Helper<true, ReadersQuestion, ReadersAnswer>;

/** What readers of GET /logs/stream cost one process, when the lines come from other replicas. */
export const logStreams: Benchmark = { name: 'log-streams', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const database = await bench.database();
  const gateway = await bench.gateway({
    databaseUrl: database.url,
    environment: { GATEWAY__LOGGING__MAX_STREAMS: '2000', GATEWAY__LIMITS__STREAMS_PER_API_TOKEN: '0' },
  });
  const rows = [...(await readRows(bench, gateway, database)), await stoppedRow(bench, gateway, database)];
  await gateway.stop();
  await database.drop();
  return rows;
}

async function readRows(bench: Bench, gateway: GatewayProcess, database: BenchDatabase): Promise<Row[]> {
  const readers: Readers = await bench.helper('../log-streams/readers-process.js', {});
  const bare = await bench.helper<{ port: number }>('../log-streams/bare-streams-process.js', {
    chunk: frames().join(''),
  });
  const bareReaders: Readers = await bench.helper('../log-streams/readers-process.js', {});
  await settled(readers, gateway, 50);
  await settled(readers, gateway, 0);
  const emptyMb = residentMb(gateway.pid);
  await settled(readers, gateway, READERS);
  const idleShares = await shares(gateway.pid, SLOTS, () => sleep(SLOT_MS));
  const kilobytes = ((residentMb(gateway.pid) - emptyMb) * 1000) / READERS;
  await bareReaders.ask({ ...plain(bare.ready.port), readers: READERS });
  const busy: number[] = [];
  const bareBusy: number[] = [];
  for (let slot = 0; slot < SLOTS; slot++) {
    const bareBefore = cpuSeconds(bare.pid);
    busy.push(...(await shares(gateway.pid, 1, () => writeLines(database, SLOT_MS))));
    bareBusy.push(((cpuSeconds(bare.pid) - bareBefore) * 100_000) / SLOT_MS);
  }
  const { answered, events } = await readers.ask({ ...question(gateway), readers: READERS });
  for (const helper of [readers, bareReaders, bare]) await helper.stop();
  const delivered = `${answered} readers, ${events.toLocaleString('en')} events in ${(SLOTS * SLOT_MS) / 1000} s`;
  const bareText = `bare writes of ready bytes: ${short(median(bareBusy))} % of a core`;
  return [
    atMost(row('1,000 log streams, 100 lines/s', delivered, bareText), median(busy), 15, '% of a core'),
    informs(row('1,000 log streams, idle', '', ''), `${short(median(idleShares))} % of a core`),
    atMost(row('An idle log stream', '', ''), kilobytes, 30, 'KB'),
  ];
}

/** Readers that never read, while far more arrives than the gateway may buffer for them. */
async function stoppedRow(bench: Bench, gateway: GatewayProcess, database: BenchDatabase): Promise<Row> {
  const readers: Readers = await bench.helper('../log-streams/readers-process.js', {});
  const before = residentMb(gateway.pid);
  await readers.ask({ ...question(gateway), readers: STOPPED_READERS, stopped: true });
  for (let written = 0; written < FLOOD_LINES; written += 200) {
    await append(
      database,
      Array.from({ length: 200 }, () => 'x'.repeat(4000)),
    );
  }
  await sleep(SETTLE_MS);
  const megabytes = (residentMb(gateway.pid) - before) / STOPPED_READERS;
  await readers.stop();
  const measured = `${STOPPED_READERS} readers, ${(FLOOD_LINES * 4000) / 1e6} MB each not read`;
  return atMost(row('A stopped log stream', measured, ''), megabytes, 1.05, 'MB');
}

const row = (path: string, measured: string, baseline: string) => ({ path, measured, baseline });

function question({ portB, headers }: GatewayProcess): Omit<ReadersQuestion, 'readers'> {
  return { port: portB, path: '/api/v1/logs/stream', headers, stopped: false };
}

const plain = (port: number) => ({ port, path: '/', headers: {}, stopped: false });

async function settled(readers: Readers, gateway: GatewayProcess, count: number): Promise<void> {
  await readers.ask({ ...question(gateway), readers: count });
  await sleep(SETTLE_MS);
}

/** Percent of a core that a process used in each slot. */
async function shares(pid: number, slots: number, work: () => Promise<unknown>): Promise<number[]> {
  const measured: number[] = [];
  for (let slot = 0; slot < slots; slot++) {
    const [startedAt, before] = [performance.now(), cpuSeconds(pid)];
    await work();
    measured.push(((cpuSeconds(pid) - before) * 100_000) / (performance.now() - startedAt));
  }
  return measured;
}

async function writeLines(database: BenchDatabase, forMs: number): Promise<void> {
  const startedAt = performance.now();
  for (let tick = 1; tick <= forMs / TICK_MS; tick++) {
    await append(
      database,
      Array.from({ length: LINES_PER_TICK }, (_line, n) => sentence(n)),
    );
    await sleep(Math.max(0, startedAt + tick * TICK_MS - performance.now()));
  }
}

let batch = 0;

/** Adds lines as another replica would. */
async function append(database: BenchDatabase, messages: readonly string[]): Promise<void> {
  batch += 1;
  await database.query(
    `SELECT append_log_lines('bench', $1::bigint, array_fill(now(), ARRAY[n]), array_fill(30::smallint, ARRAY[n]),
       array_fill('bench::line'::text, ARRAY[n]), $2::text[], array_fill(NULL::text, ARRAY[n]))
     FROM (SELECT cardinality($2::text[]) AS n) counted`,
    [batch, messages],
  );
}

function sentence(n: number): string {
  return `a tool was called session=sess_01jd8v3q5ze0psx2w9t6m4k7ah tool=files__read duration_ms=12.${n} status=success`;
}

function frames(): string[] {
  return Array.from({ length: LINES_PER_TICK }, (_line, n) => {
    const data = {
      timestamp: new Date().toISOString(),
      level: 'info',
      module: 'bench::line',
      message: sentence(n),
    };
    return `id: ${n}\nevent: log\ndata: ${JSON.stringify(data)}\n\n`;
  });
}
