import { logEntry } from '../../../../test/harness/log-entry.js';
import { JsonLogs } from '../../../platform/logging/json-logs.js';
import type { LogEntry, LogStore, NewLines } from '../../../platform/logging/log.store.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { LogTail, type TailReader } from './log-tail.service.js';
import { EntryFormat } from './sse-frames.js';

class Messages extends EntryFormat {
  present({ message }: LogEntry): object {
    return { message };
  }
}

/** Two lines are there; the rest is what the test adds. */
class FakeStore {
  lines = ['one', 'two'];
  fault: Error | undefined;
  looks = 0;

  head(): Promise<number> {
    return Promise.resolve(this.lines.length);
  }

  next(cursor: number, limit: number): Promise<NewLines> {
    this.looks += 1;
    if (this.fault !== undefined) return Promise.reject(this.fault);
    const entries = this.lines.map((message, index) => logEntry(index + 1, message));
    return Promise.resolve({ head: this.lines.length, entries: entries.slice(cursor, cursor + limit) });
  }
}

class Reader implements TailReader {
  readonly filter = { minLevel: 'info' } as const;
  text = '';
  cursor = 0;

  write(frames: Buffer, cursor: number): void {
    this.text += frames.toString();
    this.cursor = cursor;
  }
}

let store: FakeStore;
let output: string[];
let tail: LogTail;
beforeEach(() => {
  jest.useFakeTimers();
  store = new FakeStore();
  output = [];
  const logs = new JsonLogs({ level: 'info', redactor: new Redactor(), write: (line) => output.push(line) });
  tail = new LogTail(store as unknown as LogStore, new Messages(), logs);
});
afterEach(async () => {
  await tail.onModuleDestroy();
  jest.useRealTimers();
});

async function joined(): Promise<Reader> {
  const reader = new Reader();
  reader.cursor = await tail.acquire();
  tail.join(reader);
  return reader;
}

/** Waits for so many looks. @returns the milliseconds from the one before the last to the last */
async function looks(count: number): Promise<number> {
  const until = store.looks + count;
  let [seen, at, gap] = [store.looks, Date.now(), 0];
  while (store.looks < until) {
    await jest.advanceTimersByTimeAsync(10);
    if (store.looks === seen) continue;
    gap = Date.now() - at;
    [seen, at] = [store.looks, Date.now()];
  }
  return gap;
}

test('while the database does not answer it is asked less often, one line reports it, and readers miss nothing', async () => {
  const reader = await joined();
  await looks(1);
  store.fault = new Error('connection refused');
  expect(await looks(3)).toBe(1000);
  expect(output).toEqual([expect.stringMatching(/connection refused.*cannot follow at the moment/)]);
  store.lines.push('three');
  store.fault = undefined;
  expect(await looks(2)).toBe(200);
  expect(reader.text).toBe('id: 3\nevent: log\ndata: {"message":"three"}\n\n');
  expect(output).toHaveLength(1);
});

test('another outage is reported again', async () => {
  await joined();
  for (const reason of ['restarting', 'refused']) {
    store.fault = new Error(reason);
    await looks(2);
    store.fault = undefined;
    await looks(2);
  }
  expect(output).toEqual([expect.stringContaining('restarting'), expect.stringContaining('refused')]);
});

test('when the database has lost its newest lines, readers are told so and continue with new ones', async () => {
  const reader = await joined();
  store.lines = ['one'];
  await looks(2);
  expect([reader.cursor, tail.cursor]).toEqual([1, 1]);
  expect(reader.text).toBe('id: 1\nevent: gap\ndata: {"reason":"unknown_id","lines":null,"lost":true}\n\n');
  store.lines.push('another two');
  await looks(2);
  expect(reader.text).toMatch(/\n\nid: 2\nevent: log\ndata: \{"message":"another two"\}\n\n$/);
});

test('a reader that cannot be served does not follow, and the next one is served', async () => {
  store.fault = new Error('connection refused');
  await expect(tail.acquire()).rejects.toThrow('connection refused');
  store.fault = undefined;
  await turns();
  expect(store.looks).toBe(1);
  expect(await tail.acquire()).toBe(2);
});

test('when the last reader has left, the database is not asked any more', async () => {
  store.fault = new Error('connection refused');
  await expect(tail.acquire()).rejects.toThrow('connection refused');
  store.fault = undefined;
  tail.leave(await joined());
  tail.release();
  await turns();
  const { looks: asked } = store;
  await turns();
  expect(store.looks).toBe(asked);
});

async function turns(): Promise<void> {
  await jest.advanceTimersByTimeAsync(5000);
}
