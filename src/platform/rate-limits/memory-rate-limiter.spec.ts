import fc from 'fast-check';
import { MemoryRateLimiter } from './memory-rate-limiter.js';

const UNIX_START = 1_700_000_000_000;

/** A limiter whose two clocks the test moves; they start at uneven values on purpose. */
function limiterWithClocks(maxKeys?: number) {
  const clock = { monotonic: 98_765.4321, unix: UNIX_START };
  const limiter = new MemoryRateLimiter({
    ...(maxKeys === undefined ? {} : { maxKeys }),
    monotonicMs: () => clock.monotonic,
    unixMs: () => clock.unix,
  });
  const pass = (ms: number) => {
    clock.monotonic += ms;
    clock.unix += ms;
  };
  const takeUntilRefused = (key: string, limit: number) => {
    let allowed = 0;
    while (limiter.consume(key, limit).allowed) allowed += 1;
    return allowed;
  };
  return { limiter, clock, pass, takeUntilRefused };
}

describe('a bucket', () => {
  test('that got back what was taken is as it was', () => {
    const { limiter, takeUntilRefused } = limiterWithClocks();
    const before = limiter.consume('a', 10);
    limiter.consume('a', 10);
    limiter.refund('a', 10);
    expect(limiter.consume('a', 10).remaining).toBe(before.remaining - 1);
    expect(takeUntilRefused('a', 10)).toBe(8);
    limiter.refund('never seen', 10);
    expect(takeUntilRefused('never seen', 10)).toBe(10);
  });

  test.each([1, 5, 10, 30, 50, 333])(
    'of %d per second allows a burst of its limit, then refuses',
    (limit) => {
      const { takeUntilRefused } = limiterWithClocks();
      expect(takeUntilRefused('k', limit)).toBe(limit);
    },
  );

  test('counts what remains down to none, and says when it is full again', () => {
    const { limiter } = limiterWithClocks();
    const decisions = Array.from({ length: 6 }, () => limiter.consume('k', 5));
    expect(decisions.map((d) => d.remaining)).toEqual([4, 3, 2, 1, 0, 0]);
    expect(decisions.map((d) => d.resetAtMs - UNIX_START)).toEqual([200, 400, 600, 800, 1000, 1000]);
    expect(decisions.map((d) => d.retryAfterMs)).toEqual([0, 0, 0, 0, 0, 200]);
    expect(decisions.every((d) => d.limit === 5)).toBe(true);
  });

  test('refills continuously, one token at a time', () => {
    const { limiter, pass, takeUntilRefused } = limiterWithClocks();
    takeUntilRefused('k', 10);
    pass(99);
    expect(limiter.consume('k', 10)).toMatchObject({ allowed: false, retryAfterMs: 1 });
    pass(1);
    expect(limiter.consume('k', 10)).toMatchObject({ allowed: true, remaining: 0 });
    expect(limiter.consume('k', 10).allowed).toBe(false);
  });

  test('is full again after a second, and never more than full', () => {
    const { pass, takeUntilRefused } = limiterWithClocks();
    takeUntilRefused('k', 10);
    pass(1000);
    expect(takeUntilRefused('k', 10)).toBe(10);
    pass(3_600_000);
    expect(takeUntilRefused('k', 10)).toBe(10);
  });

  test('allows a request after the wait that it named, however odd the limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (limit, share) => {
          const { limiter, pass, takeUntilRefused } = limiterWithClocks();
          takeUntilRefused('k', limit);
          pass((share * 1000) / limit);
          const refused = limiter.consume('k', limit);
          if (refused.allowed) return;
          pass(refused.retryAfterMs);
          expect(limiter.consume('k', limit).allowed).toBe(true);
        },
      ),
    );
  });

  test('is not charged for refusals', () => {
    const { limiter, pass, takeUntilRefused } = limiterWithClocks();
    takeUntilRefused('k', 10);
    const first = limiter.consume('k', 10);
    for (let i = 0; i < 1000; i++) expect(limiter.consume('k', 10)).toEqual(first);
    pass(100);
    expect(limiter.consume('k', 10).allowed).toBe(true);
  });

  test('of another key is untouched', () => {
    const { limiter, takeUntilRefused } = limiterWithClocks();
    takeUntilRefused('a', 10);
    expect(limiter.consume('b', 10)).toMatchObject({ allowed: true, remaining: 9 });
  });

  test('keeps what was used when its limit changes', () => {
    const { limiter, takeUntilRefused } = limiterWithClocks();
    takeUntilRefused('k', 10);
    expect(limiter.consume('k', 50)).toMatchObject({ allowed: false, limit: 50, retryAfterMs: 20 });
  });

  test.each([5, 10, 30, 50])('of %d per second passes ten seconds of twice its limit exactly', (limit) => {
    const { limiter, pass } = limiterWithClocks();
    let allowed = 0;
    for (let i = 0; i < limit * 2 * 10; i++) {
      if (limiter.consume('k', limit).allowed) allowed += 1;
      pass(1000 / (limit * 2));
    }
    expect(Math.abs(allowed - (limit * 10 + limit))).toBeLessThanOrEqual(1);
  });

  test('never allows more than the burst and the refill in any stretch of time', () => {
    const gaps = fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), gaps, (limit, steps) => {
        const { limiter, clock, pass } = limiterWithClocks();
        const times: number[] = [];
        for (const step of steps) {
          pass(step);
          if (limiter.consume('k', limit).allowed) times.push(clock.monotonic);
        }
        for (let from = 0; from < times.length; from++) {
          for (let to = from; to < times.length; to++) {
            const elapsed = (times[to] as number) - (times[from] as number);
            expect(to - from + 1).toBeLessThanOrEqual(limit + (elapsed * limit) / 1000 + 0.01);
          }
        }
      }),
    );
  });

  test('is not moved by a step of the wall clock, and names the reset in the new time', () => {
    const { limiter, clock, takeUntilRefused } = limiterWithClocks();
    takeUntilRefused('k', 10);
    for (const step of [-3_600_000, 7_200_000]) {
      clock.unix += step;
      expect(limiter.consume('k', 10)).toMatchObject({
        allowed: false,
        retryAfterMs: 100,
        resetAtMs: clock.unix + 1000,
      });
    }
  });

  test('works with the clocks of the machine', () => {
    const before = Date.now();
    const decision = new MemoryRateLimiter().consume('k', 10);
    expect(decision).toMatchObject({ allowed: true, remaining: 9, retryAfterMs: 0 });
    expect(Math.abs(decision.resetAtMs - before - 100)).toBeLessThan(5000);
  });
});

describe('the memory', () => {
  test('decides as if nothing were ever forgotten, while keys arrive at a normal rate', () => {
    const gaps = fc.array(fc.tuple(fc.nat({ max: 5 }), fc.integer({ min: 0, max: 700 })), { maxLength: 300 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), gaps, (limit, steps) => {
        const { limiter, clock, pass } = limiterWithClocks();
        const fullAt = new Map<number, number>();
        for (const [key, gap] of steps) {
          pass(gap);
          const full = Math.max(fullAt.get(key) ?? 0, clock.monotonic);
          const expected = full + 1000 / limit - clock.monotonic <= 1000.0001;
          if (expected) fullAt.set(key, full + 1000 / limit);
          expect(limiter.consume(`${key}`, limit).allowed).toBe(expected);
        }
      }),
    );
  });

  test('forgets buckets that are full, without being asked for them', () => {
    const { limiter, pass } = limiterWithClocks();
    for (let i = 0; i < 5000; i++) limiter.consume(`k${i}`, 10);
    expect(limiter.size).toBe(5000);
    pass(1000);
    limiter.consume('x', 10);
    pass(1000);
    limiter.consume('x', 10);
    expect(limiter.size).toBeLessThanOrEqual(2);
  });

  test('never exceeds its bound', () => {
    const { limiter } = limiterWithClocks(100);
    for (let i = 0; i < 10_000; i++) {
      limiter.consume(`k${i}`, 10);
      expect(limiter.size).toBeLessThanOrEqual(100);
    }
  });

  test('keeps the buckets of tokens in use through a flood of new keys', () => {
    const { limiter, takeUntilRefused } = limiterWithClocks(100);
    takeUntilRefused('token', 10);
    for (let i = 0; i < 10_000; i++) {
      limiter.consume(`address${i}`, 10);
      if (i % 40 === 0) expect(limiter.consume('token', 10).allowed).toBe(false);
    }
  });

  test('forgets in a flood the buckets not touched for longest', () => {
    const { limiter, takeUntilRefused } = limiterWithClocks(100);
    takeUntilRefused('idle', 10);
    for (let i = 0; i < 48; i++) limiter.consume(`first${i}`, 10);
    takeUntilRefused('recent', 10);
    for (let i = 0; i < 49; i++) limiter.consume(`second${i}`, 10);
    expect(limiter.consume('recent', 10).allowed).toBe(false);
    for (let i = 0; i < 51; i++) limiter.consume(`third${i}`, 10);
    expect(limiter.consume('idle', 10).allowed).toBe(true);
    expect(limiter.consume('recent', 10).allowed).toBe(false);
  });
});
