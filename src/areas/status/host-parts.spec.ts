import { databasePart } from './host-parts.js';

const database = { query: () => Promise.resolve([]) };

test('connections are counted as they were before the report, which takes some itself', async () => {
  const idle = await databasePart(database, { open: 10, idle: 9, waiting: 0 });
  expect(idle).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('1 of 10 connections are busy') as unknown,
  });
});

test('statements that wait for a connection are worth a look', async () => {
  const busy = await databasePart(database, { open: 10, idle: 0, waiting: 3 });
  expect(busy).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('10 of 10 connections are busy, 3 statements wait') as unknown,
    advice: expect.stringContaining('database.pool_size') as unknown,
  });
});
