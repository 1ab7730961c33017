import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { Unavailable } from '../../../common/errors/gateway-error.js';
import type { LogStore } from '../../../platform/logging/log.store.js';
import { silentLogs } from '../../../platform/logging/logger.js';
import { FixedSettings } from '../../../platform/settings/settings.js';
import { settingsSchema } from '../../../platform/settings/settings.schema.js';
import { LogStreams } from './log-streams.service.js';
import type { LogTail } from './log-tail.service.js';
import type { EntryFormat } from './sse-frames.js';

class FakeResponse extends Writable {
  text = '';

  writeHead(): this {
    return this;
  }

  override _write(piece: Buffer, _encoding: string, taken: () => void): void {
    this.text += piece.toString();
    taken();
  }
}

/** Follows whatever number of readers have asked it to; its first look can be held up. */
class FakeTail {
  readonly cursor = 7;
  users = 0;
  looked: Promise<void> = Promise.resolve();

  async acquire(): Promise<number> {
    this.users += 1;
    await this.looked;
    return this.cursor;
  }

  release(): void {
    this.users -= 1;
  }

  join(): void {
    // Nothing new comes here.
  }

  leave(): void {
    // It has not joined.
  }
}

let tail: FakeTail;
let backlog: jest.Mock;
let streams: LogStreams;
beforeEach(() => {
  tail = new FakeTail();
  backlog = jest.fn();
  const settings = new FixedSettings(
    settingsSchema.parse({ logging: { max_streams: 2 }, limits: { streams_per_api_token: 0 } }),
  );
  const store = { backlog } as unknown as LogStore;
  streams = new LogStreams(store, tail as unknown as LogTail, {} as EntryFormat, settings, silentLogs);
});
afterEach(() => streams.onModuleDestroy());

async function open(response: FakeResponse, lastEventId?: string): Promise<void> {
  await streams.open({
    response: response as unknown as ServerResponse,
    filter: { minLevel: 'info' },
    lastEventId,
    backlog: lastEventId === undefined ? { since: new Date(0), limit: 5 } : undefined,
    mayRead: () => Promise.resolve(true),
    reader: { tokenId: 'tok_one', tokenName: 'one' },
  });
}

async function closed(response: FakeResponse): Promise<void> {
  response.destroy();
  await new Promise(setImmediate);
}

test('a reader that leaves before its stream starts leaves nothing behind', async () => {
  const response = new FakeResponse();
  await closed(response);
  await open(response, '7');
  expect([response.text, streams.count, tail.users]).toEqual(['', 0, 0]);
});

test('a reader that arrives while the gateway stops is told to come back', async () => {
  const response = new FakeResponse();
  let look: () => void = () => undefined;
  tail.looked = new Promise((resolve) => (look = resolve));
  const opening = open(response, '7');
  streams.endAll();
  look();
  await opening;
  await new Promise(setImmediate);
  expect(response.text).toMatch(/^retry: \d+\nid: 7\n\n: the gateway is stopping\nretry: \d+\n\n$/);
  expect([response.writableFinished, streams.count, tail.users]).toEqual([true, 0, 0]);
});

test('a stream that cannot start takes no place, and nothing is followed for it', async () => {
  backlog.mockRejectedValue(new Unavailable('The database cannot be reached.'));
  for (let attempt = 1; attempt <= 3; attempt++)
    await expect(open(new FakeResponse())).rejects.toThrow('The database cannot be reached.');
  expect([streams.count, tail.users]).toEqual([0, 0]);
  await open(new FakeResponse(), '7');
  expect([streams.count, tail.users]).toEqual([1, 1]);
});

test('readers whose streams are still starting count towards the limit', async () => {
  let look: () => void = () => undefined;
  tail.looked = new Promise((resolve) => (look = resolve));
  const two = [open(new FakeResponse(), '7'), open(new FakeResponse(), '7')];
  await expect(open(new FakeResponse(), '7')).rejects.toThrow('There are 2 open log streams');
  look();
  await Promise.all(two);
  expect([streams.count, tail.users]).toEqual([2, 2]);
});

test.each(['8', '-1', 'seven', ''])(
  'after a number that was never used (%j) it starts with new lines, and says so',
  async (lastEventId) => {
    const response = new FakeResponse();
    await open(response, lastEventId);
    const gap = 'id: 7\nevent: gap\ndata: {"reason":"unknown_id","lines":null,"lost":true}\n\n';
    expect(response.text).toMatch(new RegExp(`^retry: \\d+\nid: 7\n\n${gap}$`));
  },
);
