import { currentLogContext, inLogContext } from '../logging/log-context.js';
import { Poller } from './poller.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());
const failed = (error: unknown): never => {
  throw error;
};
const later = (ms: number) => jest.advanceTimersByTimeAsync(ms);

test('it looks at once, and again a fixed time after the end of each look', async () => {
  const began: number[] = [];
  const poller = new Poller({
    ...{ failed, everyMs: 400 },
    look: async () => {
      began.push(Date.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 100));
    },
  });
  const start = Date.now();
  poller.start();
  await later(1200);
  expect(began).toEqual([0, 500, 1000]);
  await poller.stop();
});

test('the time may depend on what was found', async () => {
  let looks = 0;
  const look = (): void => {
    looks += 1;
  };
  const poller = new Poller({ failed, everyMs: () => (looks < 2 ? 10 : 1000), look });
  poller.start();
  await later(500);
  expect(looks).toBe(2);
  await poller.stop();
});

test('a wake looks now; during a look it looks once more afterwards, however often it was woken', async () => {
  let looks = 0;
  let finish = (): void => undefined;
  const poller = new Poller({
    ...{ failed, everyMs: 60_000 },
    look: () => {
      looks += 1;
      return new Promise<void>((resolve) => (finish = resolve));
    },
  });
  poller.wake();
  expect(looks).toBe(0);
  poller.start();
  for (let times = 0; times < 3; times += 1) poller.wake();
  expect(looks).toBe(1);
  finish();
  await later(0);
  expect(looks).toBe(2);
  finish();
  await later(10);
  expect(looks).toBe(2);
  poller.wake();
  expect(looks).toBe(3);
  finish();
  await poller.stop();
});

test('a failure is reported once until a look succeeds, and is retried each time', async () => {
  const told: unknown[] = [];
  const outcomes = ['a', 'b', undefined, 'c'];
  let looks = 0;
  const poller = new Poller({
    everyMs: 10,
    look: () => {
      const problem = outcomes[looks++];
      if (problem !== undefined) throw new Error(problem);
    },
    failed: (error) => told.push((error as Error).message),
  });
  poller.start();
  await later(0);
  expect(poller.isFailing).toBe(true);
  await later(20);
  expect(poller.isFailing).toBe(false);
  await later(10);
  expect(told).toEqual(['a', 'c']);
  await poller.stop();
});

test('a stop waits for the current look, and none follows, even when it was woken', async () => {
  let finish = (): void => undefined;
  let looks = 0;
  const poller = new Poller({
    ...{ failed, everyMs: 10 },
    look: () => {
      looks += 1;
      return new Promise<void>((resolve) => (finish = resolve));
    },
  });
  poller.start();
  poller.wake();
  let isStopped = false;
  const stopping = poller.stop().then(() => (isStopped = true));
  await later(50);
  expect(isStopped).toBe(false);
  finish();
  await stopping;
  poller.wake();
  await later(100);
  expect(looks).toBe(1);
});

test('the caller of wake does not pass on its log context', async () => {
  const seen: unknown[] = [];
  const poller = new Poller({
    failed,
    everyMs: 10,
    look: () => void seen.push(currentLogContext().request_id),
  });
  inLogContext({ request_id: 'r' }, () => {
    poller.start();
    poller.wake();
  });
  await later(30);
  await poller.stop();
  expect(seen.length).toBeGreaterThan(2);
  expect(new Set(seen)).toEqual(new Set([undefined]));
});

test('the first look may come later, a wake brings it forward, and a second start changes nothing', async () => {
  const began: number[] = [];
  const start = Date.now();
  const look = (): void => void began.push(Date.now() - start);
  const poller = new Poller({ failed, everyMs: 1000, look });
  poller.start(300);
  poller.start();
  await later(299);
  expect(began).toEqual([]);
  await later(1);
  await poller.stop();
  poller.start(300);
  await later(50);
  poller.wake();
  await later(1000);
  expect(began).toEqual([300, 350, 1350]);
  await poller.stop();
});

test('a poller that is started again while it stops continues after the current look', async () => {
  let looks = 0;
  let finish = (): void => undefined;
  const poller = new Poller({
    ...{ failed, everyMs: 100 },
    look: () => {
      looks += 1;
      return new Promise<void>((resolve) => (finish = resolve));
    },
  });
  poller.start();
  void poller.stop();
  poller.start(100);
  finish();
  await later(100);
  expect(looks).toBe(2);
  finish();
  await poller.stop();
});

test('without an end of the pause it waits for a wake, which may be due within a time', async () => {
  const began: number[] = [];
  const start = Date.now();
  const look = (): void => void began.push(Date.now() - start);
  const poller = new Poller({ failed, everyMs: Number.POSITIVE_INFINITY, look });
  poller.wakeWithin(10);
  await later(100);
  expect(began).toEqual([]);
  poller.start();
  await later(100_000);
  poller.wakeWithin(200);
  poller.wakeWithin(50);
  poller.wakeWithin(300);
  await later(1000);
  expect(began).toEqual([100, 100_150]);
  poller.wakeWithin(50);
  await poller.stop();
  poller.wakeWithin(50);
  await later(1000);
  expect(began).toHaveLength(2);
});

test.each([
  ['brings the next look forward', 300, 20, [0, 120]],
  ['never puts it off', 10, 400, [0, 110]],
])('a wake within a time, during a look, %s', async (_what, everyMs, withinMs, times) => {
  const began: number[] = [];
  const start = Date.now();
  const look = async (): Promise<void> => {
    began.push(Date.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 100));
  };
  const poller = new Poller({ failed, everyMs, look });
  poller.start();
  await later(90);
  poller.wakeWithin(10 + withinMs);
  await later(60);
  expect(began).toEqual(times);
  const stopping = poller.stop();
  await later(100);
  await stopping;
});

test('the pause may depend on how many looks have failed in a row', async () => {
  const began: number[] = [];
  const start = Date.now();
  const poller = new Poller({
    everyMs: (failures) => (failures === 0 ? 1000 : 10 * 2 ** failures),
    look: () => {
      began.push(Date.now() - start);
      if (began.length % 3 !== 0) throw new Error('no database');
    },
    failed: () => undefined,
  });
  poller.start();
  await later(1100);
  await poller.stop();
  expect(began).toEqual([0, 20, 60, 1060, 1080]);
});

test('a look that wakes its poller is followed by another, and runs once at a time', async () => {
  let looks = 0;
  let running = 0;
  const poller: Poller = new Poller({
    ...{ failed, everyMs: 1000 },
    look: async () => {
      running += 1;
      expect(running).toBe(1);
      looks += 1;
      if (looks < 3) poller.wake();
      await Promise.resolve();
      running -= 1;
    },
  });
  poller.start();
  await later(10);
  expect(looks).toBe(3);
  await poller.stop();
});
