import { LogStreams } from '../../src/areas/logs/stream/log-streams.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import type { EventStream, StreamEvent } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type LogEntryFrame, LogReaders, loggerOf, messagesOf, stored } from '../harness/log-readers.js';

let database: TestDatabase;
const gateways: TestGateway[] = [];
const readers = new LogReaders();

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  readers.close();
  for (const gateway of gateways.splice(0)) await gateway.stop();
});
afterAll(() => database.drop());

async function replica(env: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await startTestGateway({ database, env });
  gateways.push(gateway);
  return gateway;
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
