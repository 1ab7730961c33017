import { silentLogs } from '../logging/logger.js';
import { type CutReason, EventStream, type Traffic } from '../runtime/event-stream.js';
import { settingsSchema } from '../settings/settings.schema.js';
import { OpenStreams } from './open-streams.js';

const STALL_MS = 5000;
const BEAT_MS = 10_000;

class FakeStream extends EventStream {
  bytes: Traffic = { sent: 0, pending: 0 };
  readonly told: string[] = [];

  protected traffic(): Traffic {
    return this.bytes;
  }

  heartbeat(): void {
    this.told.push('heartbeat');
  }

  cut(why: CutReason): void {
    this.told.push(why);
    this.end();
  }

  close(retryMs: number): void {
    this.told.push(retryMs >= 1000 && retryMs <= 3000 ? 'close' : `close ${retryMs}`);
    this.end();
  }
}

const ONE = { tokenId: 'tok_one', tokenName: 'one' };
const TWO = { tokenId: 'tok_two', tokenName: 'two' };
const yes = (): Promise<boolean> => Promise.resolve(true);

let stalled: number[];
let streams: OpenStreams<FakeStream>;
beforeEach(() => {
  jest.useFakeTimers();
  stalled = [];
  streams = new OpenStreams({
    name: 'things',
    reason: 'too_many_things',
    advice: 'Have more.',
    logger: silentLogs.for('things'),
    terms: () => {
      const { limits } = settingsSchema.parse({ limits: { streams_per_api_token: 2 } });
      return { most: 3, stallMs: STALL_MS, beatMs: BEAT_MS, limits };
    },
    stalled: (open) => stalled.push(open),
  });
});
afterEach(() => {
  streams.stop();
  jest.useRealTimers();
});

function keep(caller = ONE, mayGoOn = yes): FakeStream {
  const stream = new FakeStream();
  streams.take(caller).keep(stream, mayGoOn);
  return stream;
}

function refusal(caller = ONE): unknown {
  try {
    streams.refuseTooMany(caller);
    return undefined;
  } catch (error) {
    return (error as { details: { reason: string } }).details.reason;
  }
}

test('a place is free again when its stream ends, or when it never got one', () => {
  const place = streams.take(ONE);
  const stream = keep();
  expect([refusal(ONE), refusal(TWO)]).toEqual(['api_token_streams', undefined]);
  place.leave();
  place.leave();
  expect(refusal(ONE)).toBeUndefined();
  stream.end();
  expect([streams.count, refusal(ONE)]).toEqual([0, undefined]);
});

test('there are never more than the settings allow, whoever asks', () => {
  keep(ONE);
  keep(ONE);
  keep(TWO);
  expect(refusal(TWO)).toBe('too_many_things');
});

test('a stream that ended before it got its place holds none', () => {
  const stream = new FakeStream();
  stream.end();
  streams.take(ONE).keep(stream, yes);
  expect([streams.count, jest.getTimerCount()]).toEqual([0, 0]);
});

test('no timer runs while no stream is open', () => {
  const first = keep();
  const second = keep();
  first.end();
  expect(jest.getTimerCount()).toBe(1);
  second.end();
  expect(jest.getTimerCount()).toBe(0);
});

test('only a reader that takes none of the pending bytes for too long is cut', async () => {
  const [slow, steady, silent] = [keep(), keep(), keep(TWO)];
  slow.bytes = { sent: 100, pending: 100 };
  for (let sent = 100; sent < 800; sent += 100) {
    steady.bytes = { sent, pending: 10 };
    await jest.advanceTimersByTimeAsync(1000);
  }
  expect([slow.told, steady.told, silent.told]).toEqual([['stalled'], [], []]);
  expect([stalled, streams.count]).toEqual([[3], 2]);
});

test('each stream gets one heartbeat in each interval', async () => {
  const stream = keep();
  await jest.advanceTimersByTimeAsync(2 * BEAT_MS + 1000);
  expect(stream.told).toEqual(['heartbeat', 'heartbeat']);
});

test('a stream whose token ended is cut within a second, and stays while the token cannot be checked', async () => {
  let isGood = true;
  const stream = keep(ONE, () => Promise.resolve(isGood));
  const unknown = keep(TWO, () => Promise.reject(new Error('the database is away')));
  await jest.advanceTimersByTimeAsync(3000);
  isGood = false;
  await jest.advanceTimersByTimeAsync(1000);
  expect([stream.told, unknown.told]).toEqual([['forbidden'], []]);
});

test('when the gateway stops, all readers are told to come back, even those that arrive later', async () => {
  const stream = keep();
  streams.endAll();
  const late = keep();
  expect(late.told).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect([stream.told, late.told, streams.count]).toEqual([['close'], ['close'], 0]);
});
