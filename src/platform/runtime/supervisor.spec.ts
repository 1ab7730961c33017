import { type AttemptEnd, Supervisor, type SupervisorPolicy } from './supervisor.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());
const later = (ms: number) => jest.advanceTimersByTimeAsync(ms);

class Final extends Error {}

/** Attempts that end as told, in order; the last of them lasts until it is asked to end. */
function supervised(ends: readonly AttemptEnd[], policy: Partial<SupervisorPolicy> = {}) {
  const pauses: (number | undefined)[] = [];
  let attempts = 0;
  const supervisor = new Supervisor(
    {
      firstPauseMs: 1000,
      isFinal: (why) => why instanceof Final,
      ended: (_why, ms) => pauses.push(ms),
      attempt: (signal) => {
        const end = ends[attempts++];
        if (end !== undefined) return Promise.resolve(end);
        return new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ why: signal.reason, lastedMs: 5 })),
        );
      },
      ...policy,
    },
    () => 1,
  );
  supervisor.start();
  return { supervisor, pauses, attempts: () => attempts };
}

const failure = (lastedMs = 0): AttemptEnd => ({ why: new Error('lost'), lastedMs });

test('pauses double with failures in a row, and start again after a stable connection', async () => {
  const { supervisor, pauses } = supervised([failure(), failure(), failure(500), failure(10_001), failure()]);
  await later(20_000);
  expect(pauses).toEqual([1000, 2000, 4000, 500, 1000]);
  await supervisor.stop();
});

test('a pause is never longer than a minute, and full jitter may make it as short as zero', async () => {
  const pauses: unknown[] = [];
  const supervisor = new Supervisor(
    {
      ...{ firstPauseMs: 50_000, isFinal: () => false, attempt: () => Promise.resolve(failure()) },
      ended: (_why, ms) => pauses.push(ms),
    },
    () => (pauses.length === 1 ? 0 : 1),
  );
  supervisor.start();
  await later(110_000);
  expect(pauses.slice(0, 3)).toEqual([50_000, 0, 60_000]);
  await supervisor.stop();
});

test('the other side may ask for a longer pause', async () => {
  const { supervisor, pauses } = supervised([failure()], { leastPauseMs: () => 30_000 });
  await later(29_000);
  expect(pauses).toEqual([30_000]);
  await supervisor.stop();
});

test('a pause that no timer can wait for becomes the longest possible one, not none', async () => {
  const { supervisor, attempts } = supervised([failure()], { leastPauseMs: () => 2 ** 40 });
  await later(60_000);
  expect(attempts()).toBe(1);
  await supervisor.stop();
});

test('a first loss is retried at once where the policy asks for it; a second one in a row is not', async () => {
  const { supervisor, pauses } = supervised([failure(500), failure(500), failure()], {
    isLossRetriedAtOnce: true,
  });
  await later(10_000);
  expect(pauses).toEqual([0, 2000, 4000]);
  await supervisor.stop();
});

test('a final failure waits for a restart, which starts counting again', async () => {
  const final = { why: new Final(), lastedMs: 0 };
  const { supervisor, pauses, attempts } = supervised([failure(), final, failure()]);
  await later(3_600_000);
  expect([attempts(), pauses]).toEqual([2, [1000, undefined]]);
  supervisor.restart();
  await later(1);
  expect([attempts(), pauses]).toEqual([3, [1000, undefined, 1000]]);
  await supervisor.stop();
});

test('a restart ends the attempt and the pause; neither is a failure', async () => {
  const { supervisor, pauses, attempts } = supervised([]);
  supervisor.restart();
  await later(0);
  expect([attempts(), pauses]).toEqual([2, []]);
  await supervisor.stop();
  const waiting = supervised([failure()]);
  await later(1);
  waiting.supervisor.restart();
  await later(0);
  expect(waiting.attempts()).toBe(2);
  await waiting.supervisor.stop();
});

test('a stop resolves when the attempt has ended, and none follows', async () => {
  let close = (): void => undefined;
  let attempts = 0;
  const supervisor = new Supervisor({
    ...{ firstPauseMs: 10, isFinal: () => false },
    attempt: () => {
      attempts += 1;
      return new Promise((resolve) => (close = () => resolve(failure())));
    },
  });
  supervisor.start();
  let isStopped = false;
  const stopping = supervisor.stop().then(() => (isStopped = true));
  await later(100);
  expect([isStopped, supervisor.signal.aborted]).toEqual([false, true]);
  close();
  await stopping;
  await later(1000);
  expect(attempts).toBe(1);
});
