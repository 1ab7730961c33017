import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { GatewayProcess } from './harness/gateway-process.js';
import type { Helper } from './harness/helper.js';
import { cpuSeconds } from './harness/process-figures.js';
import { atMost, informs, short } from './harness/rows.js';
import { NEVER_SILENT } from './harness/seed.js';
import { median, percentile } from './harness/statistics.js';
import { TIMING } from './harness/timing.js';
import type { ReadersAnswer, ReadersQuestion } from './streaming/turn-readers-process.js';

const WAYS = ['provider', 'sse', 'websocket'] as const;
type Way = (typeof WAYS)[number];
type GatewayWay = Exclude<Way, 'provider'>;
const TITLES = { provider: 'the provider itself', sse: 'SSE', websocket: 'WebSocket' } as const;

const LONG_ANSWER_WORDS = 2000;
const MANY_READERS = 16;
const MAX_ADDED_MS = 5;

interface Slot extends ReadersAnswer {
  /** CPU of the gateway, in milliseconds. */
  readonly cpuMs: number;
}
interface Slots extends Readonly<Record<Way, readonly Slot[]>> {
  /** Slots of the other checkout's build, measured in the same rounds; empty without one. */
  readonly other: Readonly<Record<GatewayWay, readonly Slot[]>>;
}

/**
 * The first token and the frames of an answer through the gateway, against the provider itself. With
 * BENCH_AGAINST=<folder> the build there takes part.
 */
export const streaming: Benchmark = { name: 'streaming', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const brief = await measured(bench, {}, 1);
  const long = await measured(bench, { words: LONG_ANSWER_WORDS }, 1);
  const many = await measured(bench, { words: LONG_ANSWER_WORDS }, MANY_READERS);
  return (['sse', 'websocket'] as const).flatMap((way) => [
    firstToken(brief, way),
    frames(long, way, 'one reader'),
    frames(many, way, `${MANY_READERS} readers`),
    ...againstOther(way, { brief, long, many }),
  ]);
}

/** A gateway with its own provider; in each round all ways in turn. */
async function measured(bench: Bench, config: { words?: number }, readers: number): Promise<Slots> {
  const database = await bench.database();
  const provider = await bench.provider(config);
  // One session per reader gets many long answers: few of them are sent again, and none are summarised.
  const environment = { ...NEVER_SILENT, GATEWAY__AGENT__HISTORY_MAX_MESSAGES: '10' };
  const wish = { databaseUrl: database.url, providerUrl: provider.url, environment };
  const gateway = await bench.gateway({
    ...wish,
    environment: { ...environment, GATEWAY__AGENT__COMPACTION: 'drop' },
  });
  const checkout = process.env['BENCH_AGAINST'];
  const other = checkout ? await bench.gateway({ ...wish, checkout }) : undefined;
  const helper: Helper<true, ReadersQuestion, ReadersAnswer> = await bench.helper(
    '../streaming/turn-readers-process.js',
    {},
  );
  const sessions = await Promise.all(Array.from({ length: readers }, () => newSession(gateway)));
  const slots: Record<Way, Slot[]> = { provider: [], sse: [], websocket: [] };
  const others: Record<GatewayWay, Slot[]> = { sse: [], websocket: [] };
  const slot = async (way: Way, from: GatewayProcess): Promise<Slot> => {
    const urls = sessions.map((id) => urlOf(way, from, provider.url, id));
    const cpuBefore = cpuSeconds(from.pid);
    const answer = await helper.ask({ way, urls, headers: from.headers, durationMs: TIMING.slotMs });
    return { ...answer, cpuMs: (cpuSeconds(from.pid) - cpuBefore) * 1000 };
  };
  for (let round = -1; round < TIMING.rounds; round += 1) {
    for (const way of WAYS) {
      const measured = await slot(way, gateway);
      const against = other === undefined || way === 'provider' ? undefined : await slot(way, other);
      // The first round warms up.
      if (round < 0) continue;
      slots[way].push(measured);
      if (against !== undefined && way !== 'provider') others[way].push(against);
    }
  }
  for (const one of [helper, gateway, other, provider]) await one?.stop();
  await database.drop();
  return { ...slots, other: others };
}

async function newSession({ portB, headers }: GatewayProcess): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${portB}/api/v1/sessions`, { method: 'POST', headers });
  if (!response.ok) throw new Error(`A session was answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}

function urlOf(way: Way, { portB }: GatewayProcess, providerUrl: string, sessionId: string): string {
  if (way === 'provider') return `${providerUrl}/chat/completions`;
  if (way === 'websocket') return `ws://127.0.0.1:${portB}/ws/sessions/${sessionId}`;
  return `http://127.0.0.1:${portB}/api/v1/sessions/${sessionId}/messages`;
}

function firstToken(slots: Slots, way: Way): Row {
  const added = median(
    slots[way].map((slot, round) => median(slot.firstMs) - median(slots.provider[round]?.firstMs ?? [])),
  );
  const row = {
    path: `First token over ${TITLES[way]}, added to the provider's own`,
    measured: firstText(slots[way]),
    baseline: `${TITLES.provider}: ${firstText(slots.provider)}`,
  };
  return atMost(row, added, MAX_ADDED_MS, 'ms');
}

/** What became faster or slower than in the other checkout; no rows without one. */
function againstOther(way: GatewayWay, measured: Readonly<Record<'brief' | 'long' | 'many', Slots>>): Row[] {
  const { brief, long, many } = measured;
  if (brief.other[way].length === 0) return [];
  const ratio = (slots: Slots, of: (slot: Slot) => number): string =>
    median(slots[way].map((slot, round) => of(slot) / of(slots.other[way][round] as Slot))).toFixed(3);
  const row = (path: string, unit: string, slots: Slots, of: (slot: Slot) => number) =>
    informs(
      {
        path: `${path} ${TITLES[way]}: against the other build`,
        measured: `${short(median(slots[way].map(of)))} ${unit}`,
        baseline: `${short(median(slots.other[way].map(of)))} ${unit}`,
      },
      `${ratio(slots, of)} ×`,
    );
  return [
    row('First token over', 'ms', brief, ({ firstMs }) => median(firstMs)),
    row('CPU a short turn over', 'ms', brief, ({ cpuMs, turns }) => cpuMs / turns),
    row('Words a second, one reader, over', 'words/s', long, rate),
    row(`Words a second, ${MANY_READERS} readers, over`, 'words/s', many, rate),
    row(`CPU a long turn, ${MANY_READERS} readers, over`, 'ms', many, ({ cpuMs, turns }) => cpuMs / turns),
  ];
}

function rate({ turns, seconds }: Slot): number {
  return (turns * LONG_ANSWER_WORDS) / seconds;
}

function firstText(slots: readonly Slot[]): string {
  const all = slots.flatMap(({ firstMs }) => firstMs).toSorted((one, other) => one - other);
  return `p50 ${short(percentile(all, 0.5))} ms, p99 ${short(percentile(all, 0.99))} ms`;
}

/** Words a second. A frame holds several words when the reader was behind. */
function frames(slots: Slots, way: Way, readers: string): Row {
  const ratio = median(slots[way].map((slot, round) => rate(slot) / rate(slots.provider[round] as Slot)));
  const written = median(slots[way].map((slot) => slot.frames / slot.seconds));
  const cpu = median(slots[way].map((slot) => (slot.cpuMs * 1000) / (slot.turns * LONG_ANSWER_WORDS)));
  const text = (value: number) => Math.round(value).toLocaleString('en');
  return informs(
    {
      path: `Words over ${TITLES[way]}, ${readers}`,
      measured: `${text(median(slots[way].map(rate)))} words/s in ${text(written)} frames/s, CPU ${short(cpu)} µs a word`,
      baseline: `${TITLES.provider}: ${text(median(slots.provider.map(rate)))} words/s`,
    },
    `${ratio.toFixed(2)} ×`,
  );
}
