import type { Database } from '../../platform/database/database.js';
import { migrations } from '../../platform/database/migrations.js';
import type { StorageWatch } from '../../platform/database/storage-watch.js';
import type { Readiness } from '../../platform/lifecycle/readiness.js';
import { ReadinessCheck } from './readiness-check.js';

const READY = { isReady: true, isDraining: false };
const applied = (count: number) => async () => [{ applied: count }];

const ROOM = { problem: () => Promise.resolve(undefined) };

function check(
  query: () => Promise<unknown[]>,
  readiness: object = READY,
  storage: object = ROOM,
): ReadinessCheck {
  return new ReadinessCheck(
    readiness as Readiness,
    { query } as unknown as Database,
    storage as StorageWatch,
  );
}

const NONE = { gateway: undefined, database: undefined, migrations: undefined };

test('a gateway that has started, with every migration, is ready', async () => {
  expect(await check(applied(migrations.length)).problems()).toEqual(NONE);
});

test.each([
  ['the gateway is starting', { isReady: false, isDraining: false }],
  ['the gateway is shutting down', { isReady: true, isDraining: true }],
])('%s: it is not ready', async (gateway, readiness) => {
  const own = check(applied(migrations.length), readiness);
  expect(await own.problems()).toEqual({ ...NONE, gateway });
});

test('a database that lacks a migration, or all of them, is not up to date', async () => {
  const one = `1 of ${migrations.length} migrations have not run`;
  const every = `${migrations.length} of ${migrations.length} migrations have not run`;
  expect(await check(applied(migrations.length - 1)).problems()).toEqual({ ...NONE, migrations: one });
  expect(await check(async () => []).problems()).toEqual({ ...NONE, migrations: every });
});

test('a database without our tables is reported differently from one that cannot be reached', async () => {
  const noTable = Object.assign(new Error('relation does not exist'), { code: '42P01' });
  const failing = (error: unknown) => check(jest.fn().mockRejectedValue(error)).problems();
  expect(await failing(noTable)).toEqual({ ...NONE, migrations: 'no migration has run in this database' });
  for (const error of [new Error('refused'), 'refused'])
    expect(await failing(error)).toEqual({ ...NONE, database: 'the database cannot be reached' });
});

test('a full disk makes it not ready, although the database answers', async () => {
  const full = { problem: () => Promise.resolve('its disk is full: nothing can be stored') };
  const own = check(applied(migrations.length), READY, full);
  expect(await own.problems()).toEqual({ ...NONE, database: 'its disk is full: nothing can be stored' });
});

test('many probes at the same time are one query', async () => {
  let asked = 0;
  const own = check(async () => {
    asked += 1;
    return [{ applied: migrations.length }];
  });
  await Promise.all([own.problems(), own.problems(), own.problems()]);
  expect(asked).toBe(1);
});
