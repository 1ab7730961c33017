import { clockSkewMs, databasePart } from './host-parts.js';

const database = { query: () => Promise.resolve([]) };

test('connections are counted as they were before the report, which uses some itself', async () => {
  const idle = await databasePart(database, { open: 10, idle: 9, waiting: 0 });
  expect(idle).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('1 of 10 connections are busy') as unknown,
  });
});

test('statements that wait for a moment are not reported; a late answer is, and says how many wait', async () => {
  const use = { open: 10, idle: 0, waiting: 3 };
  expect(await databasePart(database, use)).toMatchObject({ status: 'ok', advice: null });
  const slow = {
    query: () => new Promise<never[]>((resolve) => setTimeout(() => resolve([]), 300)),
  };
  expect(await databasePart(slow, use)).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('10 of 10 connections are busy, 3 statements wait') as unknown,
    advice: expect.stringContaining('database.pool_size') as unknown,
  });
});

test('one late answer, of a new connection or a busy moment, is no slow database', async () => {
  let answers = 0;
  const once = {
    query: () => new Promise<never[]>((resolve) => setTimeout(() => resolve([]), answers++ === 0 ? 300 : 0)),
  };
  const part = await databasePart(once, { open: 10, idle: 9, waiting: 0 });
  expect(part).toMatchObject({ status: 'ok', detail: expect.not.stringMatching(/ 3\d\d ms/) as unknown });
});

test('a server whose connections are nearly all taken, by anyone, is a warning before it refuses some', async () => {
  const use = { open: 10, idle: 10, waiting: 0 };
  const taken = (count: number) => ({
    query: ({ name }: { readonly name: string }) =>
      Promise.resolve(name.endsWith('connections') ? [{ taken: count, most: 97 }] : []),
  });
  expect(await databasePart(taken(87) as never, use)).toMatchObject({ status: 'ok', advice: null });
  expect(await databasePart(taken(88) as never, use)).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('88 of the 97 connections of its server are taken') as unknown,
    advice: 'Raise max_connections of PostgreSQL, lower database.pool_size, or put a pooler between.',
  });
});

test.each([
  ['ahead of it', 5000, (skew: number) => expect(skew).toBeLessThanOrEqual(-4500)],
  // A moment may pass before the database looks at its clock; the wait after it counts as no difference.
  ['behind it', -5000, (skew: number) => expect(skew).toBeCloseTo(5000, -2)],
  ['between question and answer', 100, (skew: number) => expect(skew).toBe(0)],
])('the database %s: the least difference that explains its answer', async (_where, aheadMs, check) => {
  const database = {
    query: async () => {
      const now = new Date(Date.now() + aheadMs);
      await new Promise((later) => setTimeout(later, 250));
      return [{ now }];
    },
  };
  check(await clockSkewMs(database as never));
});
