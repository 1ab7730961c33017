import { setTimeout as sleep } from 'node:timers/promises';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { type Figures, slot } from './harness/compare.js';
import type { BenchDatabase } from './harness/database-server.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import { cpuSeconds, openFiles, residentMb } from './harness/process-figures.js';
import { atMost, figuresText, informs, short } from './harness/rows.js';
import { NEVER_SILENT, seedTalks } from './harness/seed.js';
import { HISTORY_MESSAGES } from './harness/stage.js';
import { median } from './harness/statistics.js';
import type { ViewersAnswer, ViewersQuestion } from './viewers/viewers-process.js';

const VIEWERS = Number(process.env['BENCH_VIEWERS'] ?? 10_000);
const TALKERS = 8;
const SETTLE_MS = 10_000;
const IDLE_MS = 20_000;
const SLOTS = 5;

/** Idle viewers of sessions on one replica: half of them over event streams, half over WebSockets. */
export const viewers: Benchmark = { name: 'viewers', onlyByName: true, run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const database = await bench.database();
  const sessions = await seedTalks(database, VIEWERS + TALKERS, HISTORY_MESSAGES);
  const gateway = await bench.gateway({
    databaseUrl: database.url,
    environment: {
      ...NEVER_SILENT,
      GATEWAY__STREAMING__MAX_VIEWERS: String(VIEWERS),
      GATEWAY__LIMITS__STREAMS_PER_API_TOKEN: '0',
    },
  });
  const helper = await bench.helper<true, ViewersQuestion, ViewersAnswer>(
    '../viewers/viewers-process.js',
    {},
  );
  const watched = sessions.slice(0, VIEWERS);
  const look = (named: readonly string[]) =>
    helper.ask({ port: gateway.portB, headers: gateway.headers, sessions: named });
  const paths = sessions.slice(VIEWERS).map((id) => `/api/v1/sessions/${id}/messages`);
  const measure = () => phase(bench, gateway, database, paths);
  // What the first connections and turns allocate is not part of a viewer's cost.
  await look(watched.slice(0, 100));
  await look([]);
  await measure();
  const without = await measure();
  const startedAt = performance.now();
  const { watching, refused } = await look(watched);
  const openSecs = (performance.now() - startedAt) / 1000;
  if (watching !== VIEWERS) throw new Error(`Only ${watching} of ${VIEWERS} viewers were let in: ${refused}`);
  const during = await measure();
  const { opened: lost } = await look(watched);
  await look([]);
  const after = await measure();
  for (const one of [helper, gateway]) await one.stop();
  await database.drop();
  return rowsOf({ without, during, after }, openSecs, VIEWERS - lost);
}

interface Phase {
  readonly turns: Figures;
  readonly idleCpuPercent: number;
  readonly transactionsPerSecond: number;
  readonly memoryMb: number;
  readonly files: number;
}

/** No turns for a while, then turns of a few users. */
async function phase(
  bench: Bench,
  gateway: GatewayProcess,
  database: BenchDatabase,
  paths: readonly string[],
): Promise<Phase> {
  await sleep(SETTLE_MS);
  const [cpuBefore, before] = [cpuSeconds(gateway.pid), await transactions(database)];
  await sleep(IDLE_MS);
  const idleCpuPercent = ((cpuSeconds(gateway.pid) - cpuBefore) * 100_000) / IDLE_MS;
  const transactionsPerSecond = ((await transactions(database)) - before) / (IDLE_MS / 1000);
  const [memoryMb, files] = [residentMb(gateway.pid), openFiles(gateway.pid)];
  const talk = {
    clients: TALKERS,
    method: 'POST' as const,
    paths,
    ownPaths: true,
    body: '{"content":"How fast is this?"}',
  };
  const slots: Figures[] = [];
  for (let n = 0; n < SLOTS; n += 1)
    slots.push(await slot(bench, { target: gateway, plan: () => talk }, 1000));
  const of = (key: keyof Figures) => median(slots.map((one) => one[key]));
  const turns = {
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    cpuMsPerRequest: of('cpuMsPerRequest'),
  };
  return { turns, idleCpuPercent, transactionsPerSecond, memoryMb, files };
}

async function transactions(database: BenchDatabase): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    'SELECT (xact_commit + xact_rollback)::int AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return row?.count ?? Number.NaN;
}

function rowsOf(
  { without, during, after }: Readonly<Record<'without' | 'during' | 'after', Phase>>,
  openSecs: number,
  still: number,
): Row[] {
  const who = `${VIEWERS.toLocaleString('en')} idle viewers`;
  const row = (what: string, measured: string, baseline: string) => ({
    path: `${who}: ${what}`,
    measured,
    baseline,
  });
  const idle = ({ idleCpuPercent, transactionsPerSecond }: Phase) =>
    `${short(idleCpuPercent)} % of a core, ${short(transactionsPerSecond)} transactions a second`;
  return [
    informs(
      row('let in', `${short(openSecs)} s; ${still} still there a minute later`, ''),
      `${Math.round(VIEWERS / openSecs)} a second`,
    ),
    informs(
      row(
        'memory of each',
        `${short(during.memoryMb)} MB, ${during.files} open files`,
        `${short(without.memoryMb)} MB, ${without.files} files`,
      ),
      `${short(((during.memoryMb - without.memoryMb) * 1000) / VIEWERS)} KB`,
    ),
    informs(
      row('CPU while nothing happens', idle(during), idle(without)),
      `${short(((during.idleCpuPercent - without.idleCpuPercent) * 10_000) / VIEWERS)} µs a second each`,
    ),
    atMost(
      row('turns of others, p50', figuresText(during.turns), figuresText(without.turns)),
      during.turns.p50Ms / without.turns.p50Ms,
      1.2,
      '×',
    ),
    informs(
      row('CPU of a turn', '', ''),
      `${short(during.turns.cpuMsPerRequest / without.turns.cpuMsPerRequest)} ×`,
    ),
    informs(row('when they have left', `${short(after.memoryMb)} MB, ${after.files} open files`, ''), ''),
  ];
}
