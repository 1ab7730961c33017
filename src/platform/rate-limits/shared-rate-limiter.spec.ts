import type { Logger } from '../logging/logger.js';
import type { BucketGrant, BucketRequest } from './rate-bucket.store.js';
import type { RateDecision } from './rate-limiter.port.js';
import { type SharedBuckets, SharedRateLimiter } from './shared-rate-limiter.js';

const UNIX_START = 1_700_000_000_000;

/** Buckets that note what they are asked, and answer when the test says so. */
class ScriptedBuckets implements SharedBuckets {
  readonly asked: (readonly BucketRequest[])[] = [];
  private readonly pending: {
    resolve(grants: Map<string, BucketGrant>): void;
    reject(error: Error): void;
  }[] = [];

  consume(requests: readonly BucketRequest[]): Promise<Map<string, BucketGrant>> {
    this.asked.push(requests);
    return new Promise((resolve, reject) => this.pending.push({ resolve, reject }));
  }

  grant(grants: Record<string, BucketGrant>): void {
    this.pending.shift()?.resolve(new Map(Object.entries(grants)));
  }

  fail(): void {
    this.pending.shift()?.reject(new Error('no database'));
  }
}

function limiterOverScript() {
  const buckets = new ScriptedBuckets();
  const clock = { monotonic: 5000 };
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  const logger: Logger = { trace: note, debug: note, info: note, warn: note, error: note };
  const limiter = new SharedRateLimiter(
    buckets,
    logger,
    () => clock.monotonic,
    () => UNIX_START + clock.monotonic,
  );
  const take = async (key: string, limit: number) => limiter.consume(key, limit);
  return { limiter, take, buckets, clock, lines };
}

test('requests that arrive during a statement share the next one', async () => {
  const { limiter, take, buckets } = limiterOverScript();
  const first = limiter.consume('a', 10);
  const behind = [take('a', 10), take('b', 5), take('a', 10)];
  expect(buckets.asked).toEqual([[{ key: 'a', limitPerSecond: 10, tokens: 1 }]]);
  buckets.grant({ a: { granted: 1, fullInMs: 100 } });
  expect(await first).toMatchObject({ allowed: true, remaining: 9, resetAtMs: UNIX_START + 5100 });
  await Promise.resolve();
  expect(buckets.asked[1]).toEqual([
    { key: 'a', limitPerSecond: 10, tokens: 2 },
    { key: 'b', limitPerSecond: 5, tokens: 1 },
  ]);
  buckets.grant({ a: { granted: 2, fullInMs: 300 }, b: { granted: 1, fullInMs: 200 } });
  const decisions = await Promise.all(behind);
  expect(decisions.map(({ remaining }) => remaining)).toEqual([8, 4, 7]);
  expect(decisions.map(({ resetAtMs }) => resetAtMs - UNIX_START - 5000)).toEqual([200, 200, 300]);
});

test('of more requests than tokens the first are allowed, and the rest learn when the next token comes', async () => {
  const { limiter, take, buckets } = limiterOverScript();
  void limiter.consume('other', 10);
  const requests = [take('a', 10), take('a', 10), take('a', 10)];
  buckets.grant({ other: { granted: 1, fullInMs: 100 } });
  await new Promise(setImmediate);
  buckets.grant({ a: { granted: 1, fullInMs: 960 } });
  expect(await Promise.all(requests)).toEqual([
    { allowed: true, limit: 10, remaining: 0, resetAtMs: UNIX_START + 5960, retryAfterMs: 0 },
    { allowed: false, limit: 10, remaining: 0, resetAtMs: UNIX_START + 5960, retryAfterMs: 60 },
    { allowed: false, limit: 10, remaining: 0, resetAtMs: UNIX_START + 5960, retryAfterMs: 60 },
  ]);
});

test('an empty bucket is not asked again before its next token is due, unless its limit changed', async () => {
  const { limiter, buckets, clock } = limiterOverScript();
  const refused = limiter.consume('a', 10);
  buckets.grant({ a: { granted: 0, fullInMs: 950 } });
  expect(await refused).toMatchObject({ allowed: false, retryAfterMs: 50 });
  clock.monotonic += 49;
  expect(limiter.consume('a', 10)).toEqual({
    allowed: false,
    limit: 10,
    remaining: 0,
    resetAtMs: UNIX_START + 5950,
    retryAfterMs: 1,
  } satisfies RateDecision);
  expect(buckets.asked).toHaveLength(1);
  await new Promise(setImmediate);
  void limiter.consume('a', 20);
  expect(buckets.asked).toHaveLength(2);
  clock.monotonic += 1;
  void limiter.consume('a', 10);
  buckets.grant({ a: { granted: 1, fullInMs: 1000 } });
  await new Promise(setImmediate);
  expect(buckets.asked).toHaveLength(3);
});

test('without the database a replica limits on its own, asks again a little later, and logs that once', async () => {
  const { limiter, buckets, clock, lines } = limiterOverScript();
  const first = limiter.consume('a', 5);
  const behind = limiter.consume('b', 5);
  buckets.fail();
  expect(await first).toMatchObject({ allowed: true, remaining: 4 });
  expect(await behind).toMatchObject({ allowed: true, remaining: 4 });
  await new Promise(setImmediate);
  const alone = Array.from({ length: 6 }, () => limiter.consume('a', 5));
  expect(alone.map((decision) => (decision as RateDecision).allowed)).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
  clock.monotonic += 250;
  const asks = limiter.consume('a', 5);
  // While that is on its way nobody else waits for it.
  expect(limiter.consume('b', 5)).toMatchObject({ allowed: true });
  buckets.fail();
  expect(await asks).toMatchObject({ allowed: true });
  await new Promise(setImmediate);
  clock.monotonic += 250;
  const back = limiter.consume('a', 5);
  buckets.grant({ a: { granted: 1, fullInMs: 200 } });
  await back;
  expect(buckets.asked).toHaveLength(3);
  expect(lines).toEqual([
    'the shared rate limits cannot be read: this replica limits on its own',
    'the rate limits are shared with the other replicas again',
  ]);
});

test('one statement asks for at most 500 buckets', async () => {
  const { limiter, buckets } = limiterOverScript();
  void limiter.consume('first', 10);
  for (let i = 0; i < 1200; i++) void limiter.consume(`k${i}`, 10);
  for (let i = 0; i < 4; i++) {
    buckets.grant({});
    await new Promise(setImmediate);
  }
  expect(buckets.asked.map((requests) => requests.length)).toEqual([1, 500, 500, 200]);
});
