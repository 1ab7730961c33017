import type { Logger } from '../logging/logger.js';
import { startStep } from './start-step.js';

const driverError = (message: string, code?: string) => Object.assign(new Error(message), { code });
const LOST = driverError('Connection terminated unexpectedly');

let lines: [string, object | undefined][];
const logger = {
  warn: (message: string, fields?: object) => lines.push([message, fields]),
  info: (message: string, fields?: object) => lines.push([message, fields]),
} as unknown as Logger;
beforeEach(() => {
  lines = [];
  jest.useFakeTimers();
});
afterEach(() => jest.useRealTimers());

const step = (take: () => Promise<string>, signal?: AbortSignal) => {
  const taken = startStep({ what: 'run migrations', logger, signal }, take);
  // It is looked at below; until then a failure is nobody's.
  taken.catch(() => undefined);
  return taken;
};

test.each([
  ['a connection that is lost', LOST],
  ['no server', driverError('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED')],
  ['a server that starts or stops', driverError('the database system is starting up', '57P03')],
  ['no connection to spare', driverError('sorry, too many clients already', '53300')],
])('the start waits through %s, and says so once', async (_what, failure) => {
  const take = jest.fn(() => Promise.resolve('done'));
  for (let times = 0; times < 3; times += 1) take.mockRejectedValueOnce(failure);
  const taken = step(take);
  await jest.advanceTimersByTimeAsync(5000);
  expect(await taken).toBe('done');
  expect(take).toHaveBeenCalledTimes(4);
  expect(lines).toEqual([
    [
      'the start waits for the database',
      {
        step: 'run migrations',
        at_most_ms: 30_000,
        reason: expect.stringContaining(failure.message) as string,
      },
    ],
    ['the database is back: the start goes on', { step: 'run migrations' }],
  ]);
});

test.each([
  ['a wrong password', '28P01'],
  ['a database that does not exist', '3D000'],
  ['a server that only reads', '25006'],
  ['a limit of time, or an operator who cancels', '57014'],
  ['a server without memory', '53200'],
  ['a full disk', '53100'],
  ['a right that is missing', '42501'],
])('%s ends it at once', async (_what, code) => {
  const take = jest.fn(() => Promise.reject(driverError('it is so', code)));
  const taken = step(take);
  await jest.advanceTimersByTimeAsync(0);
  await expect(taken).rejects.toMatchObject(code === '42501' ? { code } : { cause: { code } });
  expect(take).toHaveBeenCalledTimes(1);
  expect(lines).toEqual([]);
});

test('after 30 seconds it gives up', async () => {
  const taken = step(() => Promise.reject(LOST));
  await jest.advanceTimersByTimeAsync(30_000);
  await expect(taken).rejects.toMatchObject({ cause: LOST });
});

test('a stop ends the wait', async () => {
  const stop = new AbortController();
  const taken = step(() => Promise.reject(LOST), stop.signal);
  await jest.advanceTimersByTimeAsync(1000);
  stop.abort(new Error('stopped'));
  await jest.advanceTimersByTimeAsync(0);
  await expect(taken).rejects.toThrow('stopped');
});
