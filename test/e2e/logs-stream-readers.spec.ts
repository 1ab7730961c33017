import { setTimeout as sleep } from 'node:timers/promises';
import { LogStreams } from '../../src/areas/logs/stream/log-streams.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import type { EventStream, StreamEvent } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  type LogEntryFrame,
  LogReaders,
  loggerOf,
  messagesOf,
  openedStream,
  stored,
} from '../harness/log-readers.js';

let database: TestDatabase;
const gateways: TestGateway[] = [];
const readers = new LogReaders();

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  jest.useRealTimers();
  readers.close();
  for (const gateway of gateways.splice(0)) await gateway.stop();
});
afterAll(() => database.drop());

async function replica(env: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await startTestGateway({ database, env });
  gateways.push(gateway);
  return gateway;
}

async function stop(gateway: TestGateway): Promise<void> {
  gateways.splice(gateways.indexOf(gateway), 1);
  await gateway.stop();
}

test('a reader that stops costs at most 1 MiB, is cut, and loses nothing when it resumes', async () => {
  const gateway = await replica({ GATEWAY__LOGGING__STREAM_STALL_MS: '3000' });
  const open = gateway.started.app.get(LogStreams, { strict: false });
  const stream = await readers.read(gateway, '/logs/stream');
  stream.pause();
  const sentence = 'x'.repeat(7000);
  let written = 0;
  let most = 0;
  // The kernel buffers several megabytes; another four arrive once anything has to wait in this process.
  for (let rounds = 12; rounds > 0; rounds -= most > 0 ? 1 : 0) {
    for (let n = 1; n <= 50; n++) loggerOf(gateway, 'flood').info(`${++written} ${sentence}`);
    await stored(gateway, 'flood', written);
    most = Math.max(most, open.maxPendingBytes);
  }
  expect(most).toBeLessThanOrEqual(2 ** 20);
  await eventually(() => expect(open.count).toBe(0), 15_000);
  stream.resume();
  await eventually(() => expect(stream.ended).toBe('complete'));
  const last = stream.events.at(-1);
  expect(last?.event).toBe('gap');
  const gap = JSON.parse(last?.data ?? '{}') as { reason: string; lines: number; lost: boolean };
  expect(gap).toMatchObject({ reason: 'slow_reader', lost: false });
  expect(gap.lines).toBeGreaterThan(0);
  const before = numbers(stream);
  const again = await readers.read(gateway, '/logs/stream', { after: stream.lastEventId });
  const isLast = ({ data }: StreamEvent) => data.includes(`"${written} x`);
  await eventually(() => expect(again.events.filter(isLast)).toHaveLength(1), 20_000);
  expect([...before, ...numbers(again)]).toEqual(
    Array.from({ length: written }, (_line, index) => index + 1),
  );
}, 90_000);

function numbers(stream: EventStream): number[] {
  const floods = stream.of<LogEntryFrame>('log').filter(({ module }) => module === 'flood');
  return floods.map(({ message }) => Number(message.split(' ')[0]));
}

test('a slow reader that reads gets every line, though more comes than is held for it', async () => {
  const gateway = await replica();
  const open = gateway.started.app.get(LogStreams, { strict: false });
  const stream = await readers.read(gateway, '/logs?stream=true&module=burst');
  const sentence = 'y'.repeat(7000);
  let written = 0;
  for (let burst = 1; burst <= 2; burst++) {
    stream.pause();
    // The kernel buffers several megabytes before anything has to wait in this process.
    while (written < burst * 2500) {
      for (let n = 1; n <= 500; n++) loggerOf(gateway, 'burst').info(`${++written} ${sentence}`);
      await stored(gateway, 'burst', written);
    }
    await eventually(() => expect(open.maxPendingBytes).toBeGreaterThan(0));
    stream.resume();
    await stream.until('log', written, 20_000);
  }
  expect(messagesOf(stream).map((message) => Number(message.split(' ')[0]))).toEqual(
    Array.from({ length: written }, (_line, index) => index + 1),
  );
  expect(stream.of('gap')).toEqual([]);
}, 60_000);

test('a resumed stream misses nothing and repeats nothing: on the same replica, on another, after a restart', async () => {
  const first = await replica();
  const second = await replica();
  const path = '/logs?stream=true&module=resume';
  const seen: string[] = [];
  let stream = await readers.read(first, path);
  /** Reads two lines, disconnects, misses one, reconnects, and receives another one. */
  const goOn = async (gateway: TestGateway) => {
    await stream.until('log', 2);
    seen.push(...messagesOf(stream));
    stream.close();
    loggerOf(second, 'resume').info(`line ${seen.length + 1}`);
    await stored(gateway, 'resume', seen.length + 1);
    stream = await readers.read(gateway, path, { after: stream.lastEventId });
    loggerOf(gateway, 'resume').info(`line ${seen.length + 2}`);
  };
  loggerOf(first, 'resume').info('line 1');
  await stored(first, 'resume', 1);
  loggerOf(second, 'resume').info('line 2');
  await goOn(first);
  await goOn(second);
  await stop(first);
  await goOn(await replica());
  await stream.until('log', 2);
  expect([...seen, ...messagesOf(stream)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `line ${n}`));
});

test('a heartbeat keeps the connection in use, and moves the place from which to resume', async () => {
  const gateway = await replica();
  onlyIntervalsStandStill();
  const stream = await openedStream(await readers.read(gateway, '/logs/stream?level=error'));
  const opened = Number(stream.lastEventId);
  loggerOf(gateway, 'unwanted').info('of a lower level');
  await stored(gateway, 'unwanted', 1);
  await sleep(500);
  jest.advanceTimersByTime(15_000);
  await eventually(() => expect(stream.comments).toEqual(['heartbeat']));
  await eventually(() => expect(Number(stream.lastEventId)).toBeGreaterThan(opened));
  expect(stream.events).toEqual([]);
});

function onlyIntervalsStandStill(): void {
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'hrtime',
      'nextTick',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setTimeout',
      'clearTimeout',
    ],
  });
}

test('more streams than the limit are refused with 503 and a hint, and a closed one makes room', async () => {
  const gateway = await replica({
    GATEWAY__LOGGING__MAX_STREAMS: '2',
    GATEWAY__LIMITS__STREAMS_PER_API_TOKEN: '0',
  });
  const open = gateway.started.app.get(LogStreams, { strict: false });
  const [one] = await Promise.all([
    readers.read(gateway, '/logs/stream'),
    readers.read(gateway, '/logs?stream=true'),
  ]);
  const refused = await gateway.b.get<{ error: { code: string; details: unknown } }>('/logs/stream');
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('10');
  expect(refused.body.error).toMatchObject({
    code: 'internal_error',
    details: { reason: 'too_many_streams' },
  });
  expect((await gateway.b.get('/logs')).status).toBe(200);
  one.close();
  await eventually(() => expect(open.count).toBe(1));
  expect((await readers.read(gateway, '/logs/stream')).status).toBe(200);
});

test('when the gateway stops, streams end properly and say when to come back', async () => {
  const gateway = await replica();
  const stream = await openedStream(await readers.read(gateway, '/logs/stream'));
  loggerOf(gateway, 'stopping').info('last words');
  await stop(gateway);
  await eventually(() => expect(stream.ended).toBe('complete'));
  expect(stream.comments).toContain('the gateway is stopping');
  const next = await replica();
  const again = await readers.read(next, '/logs/stream', { after: stream.lastEventId });
  await eventually(() => {
    const all = [...messagesOf(stream), ...messagesOf(again)];
    expect(all.filter((message) => message === 'last words')).toHaveLength(1);
    expect(all.filter((message) => message === 'the gateway has stopped')).toHaveLength(1);
  });
});
