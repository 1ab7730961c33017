import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { mintToken } from '../../src/tokens/token-format.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { EventStream } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';

/** The whole half minute with GATEWAY_TEST_LONG=1; a few seconds of it otherwise. */
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

/** Every request is one line of `gateway::access` at debug, which names the request's id. */
const ACCESS_LINES = '/logs?stream=true&level=debug&module=gateway::access&limit=0';

test(
  'three processes on one PostgreSQL, 200 lines a second each: one stream shows every line once, also over reconnects',
  async () => {
    const token = mintToken();
    const env = environment(token);
    const replicas = [await bench.serve({ env }), await bench.serve({ env }), await bench.serve({ env })];
    const seen: string[] = [];
    let stream = await EventStream.open(`${replicas[0]?.b}${ACCESS_LINES}`, token);
    const collect = () => seen.push(...requestIds(stream));
    const writing = replicas.map((replica, index) => write(replica, token, `r${index}`));
    for (let reconnect = 1; reconnect <= 4; reconnect++) {
      await sleep((SECONDS * 1000) / 5);
      stream.close();
      await eventually(() => expect(stream.ended).toBe('cut'));
      collect();
      const replica = replicas[reconnect % replicas.length];
      stream = await EventStream.open(`${replica?.b}${ACCESS_LINES}`, token, {
        'last-event-id': stream.lastEventId,
      });
      expect(stream.status).toBe(200);
    }
    const written = (await Promise.all(writing)).flat();
    await eventually(() => {
      expect(seen.length + requestIds(stream).length).toBeGreaterThanOrEqual(written.length);
    }, 15_000);
    await sleep(1000);
    collect();
    stream.close();
    expect(written).toHaveLength(3 * LINES_PER_SECOND * SECONDS);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.toSorted()).toEqual(written.toSorted());
    expect(inOrderOfEachProcess(seen)).toBe(true);
    expect(stream.of('gap')).toEqual([]);
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
    GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
    GATEWAY__LOGGING__LEVEL: 'debug',
    GATEWAY__RATE_LIMITS__OTHER: '100000',
  };
}

/** One line every five milliseconds. @returns the ids that the lines name */
async function write(replica: GatewayProcess, token: string, name: string): Promise<string[]> {
  const caller = new HttpCaller(replica.b, token);
  const ids: string[] = [];
  const sent: Promise<unknown>[] = [];
  const perTick = (LINES_PER_SECOND * TICK_MS) / 1000;
  const startedAt = performance.now();
  for (let tick = 1; tick <= (SECONDS * 1000) / TICK_MS; tick++) {
    for (let n = 0; n < perTick; n++) {
      const id = `${name}.${ids.length}`;
      ids.push(id);
      sent.push(caller.get('/status/health', { 'x-request-id': id }));
    }
    await sleep(Math.max(0, startedAt + tick * TICK_MS - performance.now()));
  }
  await Promise.all(sent);
  return ids;
}

function requestIds(stream: EventStream): string[] {
  return stream.of<Entry>('log').flatMap(({ message }) => / request_id=(r\d\.\d+)/.exec(message)?.[1] ?? []);
}

/** The requests of one tick run side by side; those of a second later do not. */
function inOrderOfEachProcess(ids: readonly string[]): boolean {
  const newest = new Map<string, number>();
  return ids.every((id) => {
    const [name = '', number] = id.split('.');
    const before = newest.get(name) ?? 0;
    newest.set(name, Math.max(before, Number(number)));
    return Number(number) > before - LINES_PER_SECOND;
  });
}
