import { databasePart } from './host-parts.js';

const database = { query: () => Promise.resolve([]) };

test('connections are counted as they were before the report, which takes some itself', async () => {
  const idle = await databasePart(database, { open: 10, idle: 9, waiting: 0 });
  expect(idle).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('1 of 10 connections are busy') as unknown,
  });
});

test('a moment in which statements wait is no trouble; an answer that comes late is, and says how many wait', async () => {
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
