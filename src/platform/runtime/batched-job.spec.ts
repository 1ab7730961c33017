import { setImmediate as turn } from 'node:timers/promises';
import { type Logger, silentLogs } from '../logging/logger.js';
import { BatchedJob } from './batched-job.js';

const warnings: string[] = [];
const logger: Logger = { ...silentLogs.for('test'), warn: (sentence) => void warnings.push(sentence) };

beforeEach(() => {
  warnings.length = 0;
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

function jobOf(batch: () => Promise<boolean>): BatchedJob {
  return new BatchedJob({ failure: 'nothing could be removed', everyMs: 60_000, logger, batch });
}

test('runs batch after batch while there is more, and again after its interval', async () => {
  const left = [true, true, false, false];
  const job = jobOf(() => Promise.resolve(left.shift() ?? false));
  job.start();
  await jest.advanceTimersByTimeAsync(60_000 + 2 * 20);
  expect(left).toHaveLength(1);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(left).toHaveLength(0);
  await job.stop();
});

test('logs a failure once, until it works again', async () => {
  const outcomes = ['fails', 'fails', 'works', 'fails'];
  const job = jobOf(() =>
    outcomes.shift() === 'works' ? Promise.resolve(false) : Promise.reject(new Error('away')),
  );
  job.start();
  await jest.advanceTimersByTimeAsync(2 * 60_000);
  expect(warnings).toEqual(['nothing could be removed; it will be tried again']);
  await jest.advanceTimersByTimeAsync(2 * 60_000);
  expect(warnings).toHaveLength(2);
  await job.stop();
});

test('a stop waits for the running batch, and none follows', async () => {
  let finish: (more: boolean) => void = () => undefined;
  let bites = 0;
  const job = jobOf(() => {
    bites += 1;
    return new Promise((resolve) => (finish = resolve));
  });
  job.start();
  await jest.advanceTimersByTimeAsync(60_000);
  let isStopped = false;
  const stopping = job.stop().then(() => (isStopped = true));
  await turn();
  expect(isStopped).toBe(false);
  finish(true);
  await stopping;
  await jest.advanceTimersByTimeAsync(600_000);
  expect(bites).toBe(1);
});

test('runs one batch at a time, however many ask for it', async () => {
  let [taking, most, left] = [0, 0, 4];
  const job = jobOf(async () => {
    most = Math.max(most, ++taking);
    await turn();
    taking -= 1;
    left -= 1;
    return left > 0;
  });
  await Promise.all([job.runAll(), job.runAll()]);
  expect([most, left]).toEqual([1, -1]);
});
