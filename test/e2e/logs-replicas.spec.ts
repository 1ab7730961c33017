import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { EventStream } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';

/** All 30 seconds with GATEWAY_TEST_LONG=1, otherwise a few of them. */
/** The same for all: replicas of one database share their master key. */
const MASTER_KEY = randomBytes(32).toString('base64');
const SECONDS = process.env['GATEWAY_TEST_LONG'] === '1' ? 30 : 5;
const LINES_PER_SECOND = 200;
const TICK_MS = 50;

const bench = new ProcessBench();
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await bench.clear();
  await database.drop();
});

interface Entry {
  readonly message: string;
}

interface Answer {
  readonly status: number;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** By request id. */
type Answers = ReadonlyMap<string, Answer>;

/** Each request logs one line of `gateway::access` with the request's id. */
const ACCESS_LINES = '/logs?stream=true&level=debug&module=gateway::access&limit=0';

test(
  'three processes on one PostgreSQL, 200 lines a second each: one stream shows every line once, also over reconnects',
  async () => {
    const token = mintToken();
    const env = environment(token);
    const replicas = [await bench.serve({ env }), await bench.serve({ env }), await bench.serve({ env })];
    const readings = [await EventStream.open(`${replicas[0]?.b}${ACCESS_LINES}`, token)];
    const writing = replicas.map((replica, index) => write(replica, token, `r${index}`));
    for (let reconnect = 1; reconnect <= 4; reconnect++) {
      await sleep((SECONDS * 1000) / 5);
      const last = readings.at(-1) as EventStream;
      last.close();
      await eventually(() => expect(last.ended).toBe('cut'));
      const replica = replicas[reconnect % replicas.length];
      const next = await EventStream.open(`${replica?.b}${ACCESS_LINES}`, token, {
        'last-event-id': last.lastEventId,
      });
      expect(next.status).toBe(200);
      readings.push(next);
    }
    const answers = new Map((await Promise.all(writing)).flat());
    await everyLineCame(answers, readings);
    await sleep(1000);
    readings.at(-1)?.close();
    const seen = readings.flatMap(requestIds);
    expect(answers.size).toBe(3 * LINES_PER_SECOND * SECONDS);
    expect(repeated(seen)).toEqual([]);
    expect(seen.toSorted()).toEqual([...answers.keys()].toSorted());
    expect(lateLines(seen, answers)).toEqual([]);
    expect(lateLines(seen.toReversed(), answers)).not.toEqual([]);
    expect(readings.flatMap((reading) => reading.of('gap'))).toEqual([]);
  },
  (SECONDS + 60) * 1000,
);

test('a process that is asked to stop stores its last lines, and its successor goes on with the stream', async () => {
  const token = mintToken();
  const env = environment(token);
  const first = await bench.serve({ env });
  const stream = await EventStream.open(`${first.b}/logs/stream`, token);
  await eventually(() => expect(stream.lastEventId).not.toBe(''));
  first.kill('SIGTERM');
  await first.ended;
  expect(stream.ended).toBe('complete');
  const second = await bench.serve({ env });
  const again = await EventStream.open(`${second.b}/logs/stream`, token, {
    'last-event-id': stream.lastEventId,
  });
  await eventually(() => {
    const messages = [...stream.of<Entry>('log'), ...again.of<Entry>('log')].map(({ message }) => message);
    expect(messages.filter((message) => message === 'the gateway has stopped')).toHaveLength(1);
  });
  again.close();
}, 60_000);

function environment(token: string): Record<string, string> {
  return {
    DATABASE_URL: database.url,
    GATEWAY_BOOTSTRAP_TOKEN: token,
    GATEWAY_MASTER_KEY: MASTER_KEY,
    GATEWAY__LOGGING__LEVEL: 'debug',
    GATEWAY__LOGGING__REQUESTS: 'all',
    GATEWAY__RATE_LIMITS__OTHER: '100000',
  };
}

/**
 * Sends a request, and thus logs a line, every five milliseconds.
 * @returns each response, by the id in its line
 */
async function write(replica: GatewayProcess, token: string, name: string): Promise<[string, Answer][]> {
  const caller = new HttpCaller(replica.b, token);
  const sent: Promise<[string, Answer]>[] = [];
  const ask = async (id: string): Promise<[string, Answer]> => {
    const sentAt = performance.now();
    const { status } = await caller.get('/status/health', { 'x-request-id': id });
    return [id, { status, sentAt, answeredAt: performance.now() }];
  };
  const perTick = (LINES_PER_SECOND * TICK_MS) / 1000;
  const startedAt = performance.now();
  for (let tick = 1; tick <= (SECONDS * 1000) / TICK_MS; tick++) {
    for (let n = 0; n < perTick; n++) sent.push(ask(`${name}.${sent.length}`));
    await sleep(Math.max(0, startedAt + tick * TICK_MS - performance.now()));
  }
  return Promise.all(sent);
}

/** Rejects with details about each missing line: whether it was stored, and what was read around it. */
async function everyLineCame(answers: Answers, readings: readonly EventStream[]): Promise<void> {
  let missing = [...answers.keys()];
  const arrival = eventually(() => {
    const seen = new Set(readings.flatMap(requestIds));
    missing = [...answers.keys()].filter((id) => !seen.has(id));
    expect(missing).toHaveLength(0);
  }, 15_000);
  await arrival.catch(async () => {
    const stored = await storedLines();
    const facts = missing.map(
      (id) => `${id}, answered ${answers.get(id)?.status}, is line ${stored.get(id)}`,
    );
    const heading = `${missing.length} of ${answers.size} lines did not come`;
    throw new Error([heading, ...facts, ...readings.map(extent)].join('\n'));
  });
}

/** The line's number in the database, by the request that it names. */
async function storedLines(): Promise<Map<string | undefined, string>> {
  const lines = await database.query<{ id: string; message: string }>('SELECT id, message FROM log_entries');
  return new Map(lines.map(({ id, message }) => [requestIdIn(message), id]));
}

function extent({ events, lastEventId }: EventStream, index: number): string {
  return `reading ${index}: lines ${events[0]?.id} to ${events.at(-1)?.id}, to go on after ${lastEventId}`;
}

function requestIds(stream: EventStream): string[] {
  return stream.of<Entry>('log').flatMap(({ message }) => requestIdIn(message) ?? []);
}

function requestIdIn(message: string): string | undefined {
  return / request_id=(r\d\.\d+)/.exec(message)?.[1];
}

function repeated(ids: readonly string[]): string[] {
  const last = new Map(ids.map((id, index) => [id, index]));
  return ids.filter((id, index) => last.get(id) !== index);
}

/**
 * Lines that arrived after the line of a request that the same process received a second after theirs had been
 * answered. Lines of parallel requests may arrive in any order, however long a slow machine took.
 */
function lateLines(ids: readonly string[], answers: Answers): string[] {
  const latestSent = new Map<string, number>();
  return ids.filter((id) => {
    const [process = ''] = id.split('.');
    const { sentAt, answeredAt } = answers.get(id)!;
    const latest = Math.max(latestSent.get(process) ?? 0, sentAt);
    latestSent.set(process, latest);
    return answeredAt + 1000 < latest;
  });
}
