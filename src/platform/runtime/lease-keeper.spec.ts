import { LeaseKeeper, type LeaseKeeperOptions } from './lease-keeper.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());
const later = (ms: number) => jest.advanceTimersByTimeAsync(ms);

/** A keeper of leases of 3 s over a store that does as it is told. */
function bench(more: Partial<LeaseKeeperOptions<string>> = {}) {
  const held = new Map<string, string>();
  const lost: string[] = [];
  const failures: number[] = [];
  const renewed: string[][] = [];
  const store = { has: (_key: string): boolean => true, away: false };
  const keeper = new LeaseKeeper<string>({
    ...{ leaseMs: 3000, held: () => held, failed: (_error, leases) => void failures.push(leases) },
    renew: (asked) => {
      if (store.away) return Promise.reject(new Error('away'));
      renewed.push([...asked.keys()]);
      return Promise.resolve(new Set([...asked.keys()].filter((key) => store.has(key))));
    },
    lost: (key, one) => {
      lost.push(`${key} ${one}`);
      held.delete(key);
    },
    ...more,
  });
  return { held, lost, failures, renewed, store, keeper };
}

test('all leases are renewed together, three times in a lease, until the stop; without leases the store is not asked', async () => {
  const { keeper, held, renewed } = bench();
  keeper.start();
  await later(1500);
  expect(renewed).toEqual([]);
  held.set('a', '1').set('b', '1');
  await later(2000);
  held.delete('a');
  await later(1000);
  await keeper.stop();
  await later(5000);
  expect(renewed).toEqual([['a', 'b'], ['a', 'b'], ['b']]);
});

test('a lease that the store gave to another owner is lost, once', async () => {
  const { keeper, held, lost, store } = bench();
  held.set('a', '1').set('b', '1');
  store.has = (key) => key !== 'b';
  keeper.start();
  await later(5000);
  expect([lost, [...held.keys()]]).toEqual([['b 1'], ['a']]);
  await keeper.stop();
});

test('a lease that was released or acquired again while the store was asked is not lost', async () => {
  const answers: ((kept: Set<string>) => void)[] = [];
  const { keeper, held, lost } = bench({ renew: () => new Promise((resolve) => answers.push(resolve)) });
  held.set('a', '1').set('b', '1');
  keeper.start();
  await later(0);
  held.delete('a');
  held.set('b', '2');
  answers.shift()?.(new Set());
  await later(0);
  expect([lost, [...held]]).toEqual([[], [['b', '2']]]);
  await keeper.stop();
});

test('a lease that could not be renewed for its whole time is lost by time; the failures are reported once', async () => {
  const { keeper, held, lost, store, failures } = bench({ isLostByTime: true });
  held.set('old', '1');
  keeper.start();
  await later(0);
  store.away = true;
  await later(1000);
  held.set('new', '1');
  await later(1999);
  expect(lost).toEqual([]);
  await later(1);
  expect(lost).toEqual(['old 1']);
  await later(2000);
  expect(lost).toEqual(['old 1', 'new 1']);
  expect(failures).toEqual([1]);
  await keeper.stop();
});

test("without that rule only the store's answer counts", async () => {
  const { keeper, held, lost, store } = bench();
  held.set('a', '1');
  store.away = true;
  keeper.start();
  await later(60_000);
  expect(lost).toEqual([]);
  store.away = false;
  store.has = () => false;
  await later(1000);
  expect(lost).toEqual(['a 1']);
  await keeper.stop();
});

test('a renewal that hangs is given up when the lease ends, and the lease is then lost by time', async () => {
  let isHanging = false;
  const lost: string[] = [];
  const held = new Map([['a', '1']]);
  const keeper = new LeaseKeeper<string>({
    ...{ leaseMs: 3000, isLostByTime: true, held: () => held, failed: () => undefined },
    renew: () => (isHanging ? new Promise(() => undefined) : Promise.resolve(new Set(['a']))),
    lost: (key) => lost.push(key),
  });
  keeper.start();
  await later(0);
  isHanging = true;
  await later(2999);
  expect(lost).toEqual([]);
  await later(1);
  expect(lost).toEqual(['a']);
  await keeper.stop();
});
