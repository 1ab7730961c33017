import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { logEntry } from '../../../../test/harness/log-entry.js';
import type { LogEntry, LogStore, PageOfLines } from '../../../platform/logging/log.store.js';
import { LogStream } from './log-stream.js';
import type { LogTail, TailReader } from './log-tail.service.js';
import { EntryFormat } from './sse-frames.js';

class Messages extends EntryFormat {
  present({ message }: LogEntry): object {
    return { message };
  }
}

/** An answer whose reader takes one piece after the other, while it reads. */
class FakeResponse extends Writable {
  text = '';
  reads = true;
  private untaken: (() => void)[] = [];

  writeHead(): this {
    return this;
  }

  override _write(piece: Buffer, _encoding: string, taken: () => void): void {
    this.text += piece.toString();
    if (this.reads) taken();
    else this.untaken.push(taken);
  }

  readAgain(): void {
    this.reads = true;
    for (const taken of this.untaken.splice(0)) taken();
  }
}

/** Two lines that the reader has not had yet; a look at them can be held up. */
class FakeStore {
  pages = 0;
  held: Promise<void> = Promise.resolve();

  async page(_filter: unknown, cursor: number, last: number): Promise<PageOfLines> {
    this.pages += 1;
    await this.held;
    const entries = ['one', 'two'].map((message, index) => logEntry(index + 1, message));
    return { firstKept: 1, entries: entries.filter(({ id }) => id > cursor && id <= last) };
  }
}

class FakeTail {
  readonly cursor = 2;
  readonly readers = new Set<TailReader>();

  join(reader: TailReader): void {
    this.readers.add(reader);
  }

  leave(reader: TailReader): void {
    this.readers.delete(reader);
  }
}

const LINES = 'id: 1\nevent: log\ndata: {"message":"one"}\n\nid: 2\nevent: log\ndata: {"message":"two"}\n\n';

const OPENING = 'retry: 1000\nid: 0\n\n';

let store: FakeStore;
let tail: FakeTail;
let response: FakeResponse;
let stream: LogStream;
beforeEach(() => {
  store = new FakeStore();
  tail = new FakeTail();
  response = new FakeResponse({ highWaterMark: 1 });
  stream = new LogStream({
    response: response as unknown as ServerResponse,
    filter: { minLevel: 'info' },
    store: store as unknown as LogStore,
    tail: tail as unknown as LogTail,
    format: new Messages(),
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  response.destroy();
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
}

test('a reader first gets the lines that it has missed, and then follows the tail', async () => {
  stream.start(0, 1000, undefined);
  await turns();
  expect(response.text).toBe(OPENING + LINES);
  expect([...tail.readers]).toEqual([stream]);
});

test('nothing is looked up before the reader has taken the pending lines, nor after it is gone', async () => {
  response.reads = false;
  stream.start(0, 1000, undefined);
  await turns();
  expect(store.pages).toBe(0);
  response.destroy();
  await turns();
  expect([store.pages, tail.readers.size]).toEqual([0, 0]);
});

test('a reader that leaves while its lines are looked up gets none of them, and follows nothing', async () => {
  let found: () => void = () => undefined;
  store.held = new Promise((resolve) => (found = resolve));
  stream.start(0, 1000, undefined);
  await turns();
  expect(store.pages).toBe(1);
  stream.end();
  found();
  await turns();
  expect([store.pages, response.text, tail.readers.size]).toEqual([1, OPENING, 0]);
});

test('a heartbeat is sent only when nothing else is on its way', async () => {
  stream.start(2, 1000, undefined);
  await turns();
  stream.heartbeat();
  const beat = ': heartbeat\nid: 2\n\n';
  expect(response.text).toBe(`retry: 1000\nid: 2\n\n${beat}`);
  response.reads = false;
  stream.heartbeat();
  stream.heartbeat();
  response.readAgain();
  await turns();
  expect(response.text.split(beat)).toHaveLength(3);
});

test('a stream that was told to reconnect sends nothing more', async () => {
  stream.start(2, 1000, undefined);
  await turns();
  stream.close(2000);
  stream.cut('stalled');
  stream.heartbeat();
  await turns();
  expect(response.text).toMatch(/: the gateway is stopping\nretry: 2000\n\n$/);
  expect(tail.readers.size).toBe(0);
});

test('a reader stalls from the moment when it takes none of the pending lines', () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(1000);
  expect(stream.stalledMs()).toBe(0);
  now.mockReturnValue(9000);
  expect(stream.stalledMs()).toBe(0);
  response.reads = false;
  stream.write(Buffer.from('frames'), 3);
  expect(stream.stalledMs()).toBe(0);
  now.mockReturnValue(12_000);
  expect(stream.stalledMs()).toBe(3000);
  stream.write(Buffer.from('more frames'), 4);
  expect(stream.stalledMs()).toBe(0);
  now.mockReturnValue(13_500);
  expect(stream.stalledMs()).toBe(1500);
  response.readAgain();
  expect(stream.stalledMs()).toBe(0);
});
