import { setTimeout as sleep } from 'node:timers/promises';
import { RETRY_DELAYS_SECS } from '../../src/areas/hooks/retry-schedule.js';
import { newWebhookSecret } from '../../src/common/text/webhook-secret.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  deliveriesIn,
  firstAfter,
  forgetHooks,
  type HookWish,
  makeSession,
  registerHook,
} from '../harness/hook-deliveries.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { verifyAttempt } from '../harness/webhook-judges.js';

let database: TestDatabase;
let gateway: TestGateway;
let receiver: HookReceiver;
beforeAll(async () => {
  database = await createTestDatabase();
  gateway = await startTestGateway({ database });
});
beforeEach(async () => {
  receiver = await HookReceiver.open();
});
afterEach(async () => {
  await forgetHooks(gateway, database);
  await receiver.close();
});
afterAll(async () => {
  await gateway.stop();
  await database.drop();
});

const register = (wish?: HookWish) => registerHook(gateway, receiver, wish);
const deliveries = () => deliveriesIn(database);

/** Moves the retry schedule past every wait, by the database's clock. */
const passTime = () =>
  database.query(
    `UPDATE hook_deliveries SET next_attempt_at = now() WHERE status = 'pending' AND attempts > 0`,
  );

/** So many deliveries for each webhook: new ones, or such that are due once more. */
const fill = (events: number, attempts: number) =>
  database.query(
    `WITH told AS (
       INSERT INTO events (id, name, occurred_at, data)
       SELECT 'evt_' || $2::int || '_' || n, 'session.created', now(), '{}' FROM generate_series(1, $1::int) AS n
       ON CONFLICT (id) DO UPDATE SET occurred_at = now() RETURNING id)
     INSERT INTO hook_deliveries (hook_id, event_id, event, attempts, sequence, next_attempt_at)
     SELECT hooks.id, told.id, 'session.created', $2, CASE WHEN $2 > 0 THEN row_number() OVER () END,
       CASE WHEN $2 > 0 THEN now() END
     FROM hooks CROSS JOIN told`,
    [events, attempts],
  );

test('every attempt comes when the schedule says, with the same id and bytes, even across a restart; then the delivery is given up', async () => {
  receiver.behaviour = () => 500;
  const secret = newWebhookSecret();
  await register({ secret });
  await makeSession(gateway);
  for (const [index, planned] of RETRY_DELAYS_SECS.entries()) {
    const { status, wait, last_status } = await firstAfter(database, index + 1);
    expect([status, last_status]).toEqual(['pending', 500]);
    expect(wait).toBeGreaterThanOrEqual(planned * 0.8);
    expect(wait).toBeLessThanOrEqual(planned * 1.2);
    if (index === 3) {
      await gateway.stop();
      gateway = await startTestGateway({ database });
    }
    await passTime();
  }
  expect(await firstAfter(database, RETRY_DELAYS_SECS.length + 1)).toMatchObject({
    status: 'failed',
    wait: null,
  });
  expect(receiver.attempts).toHaveLength(10);
  expect(new Set(receiver.attempts.map(({ body }) => body)).size).toBe(1);
  expect(new Set(receiver.attempts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  for (const attempt of receiver.attempts) verifyAttempt(attempt, secret);
  const hooks = await gateway.a.get<{ hooks: { active: boolean }[] }>('/hooks');
  expect(hooks.body.hooks[0]?.active).toBe(true);
}, 60_000);

test('five days of nothing but failures end a hook, and one success restarts them', async () => {
  receiver.behaviour = () => 503;
  const id = await register({ events: ['session.created'] });
  await makeSession(gateway);
  await firstAfter(database, 1);
  await database.query(`UPDATE hook_lanes SET failing_since = now() - interval '4 days 23 hours'`);
  await passTime();
  await firstAfter(database, 2);
  receiver.behaviour = () => 200;
  await passTime();
  await firstAfter(database, 3);
  expect(await database.query(`SELECT failing_since FROM hook_lanes`)).toEqual([{ failing_since: null }]);
  receiver.behaviour = () => 503;
  await database.query(`UPDATE hook_lanes SET failing_since = now() - interval '5 days 1 hour'`);
  await makeSession(gateway);
  await eventually(async () => {
    const { body } = await gateway.a.get<{ hooks: { id: string; active: boolean }[] }>('/hooks');
    expect(body.hooks).toMatchObject([{ id, active: false }]);
  });
});

test('two replicas send every event once, in one order without gaps', async () => {
  const other = await startTestGateway({ database });
  try {
    await register();
    const rounds = Array.from({ length: 40 }, (_, index) => index);
    await Promise.all(rounds.map((index) => makeSession(index % 2 === 0 ? gateway : other)));
    await Promise.all(rounds.map((index) => makeSession(index % 2 === 0 ? other : gateway)));
    await eventually(() => expect(receiver.bodies().length).toBeGreaterThanOrEqual(80));
    const expected = Array.from({ length: 80 }, (_, index) => index + 1);
    expect(receiver.bodies().map(({ sequence }) => sequence)).toEqual(expected);
    expect(new Set(receiver.bodies().map(({ id }) => id)).size).toBe(80);
  } finally {
    await other.stop();
  }
});

test('a large backlog, claimed ahead, is sent once, in one order without gaps', async () => {
  const [paths, events] = [['/one', '/two', '/three'], 1200];
  for (const path of paths) await register({ path });
  await database.query(
    `WITH told AS (
       INSERT INTO events (id, name, occurred_at, data)
       SELECT 'evt_' || n, 'session.created', now(), '{}' FROM generate_series(1, $1::int) AS n RETURNING id)
     INSERT INTO hook_deliveries (hook_id, event_id, event)
     SELECT hooks.id, told.id, 'session.created' FROM hooks CROSS JOIN told`,
    [events],
  );
  const unsent = `SELECT count(*)::int AS n FROM hook_deliveries WHERE status <> 'delivered'`;
  await eventually(async () => expect(await database.query(unsent)).toEqual([{ n: 0 }]), 60_000);
  const expected = Array.from({ length: events }, (_, index) => index + 1);
  for (const path of paths) {
    expect(receiver.bodies(path).map(({ sequence }) => sequence)).toEqual(expected);
    expect(new Set(receiver.bodies(path).map(({ id }) => id)).size).toBe(events);
  }
});

test('what an outage left is sent again as fast as the receiver takes it, a few at once', async () => {
  await register();
  const unsent = `SELECT count(*)::int AS n FROM hook_deliveries WHERE status <> 'delivered'`;
  const msFor = async (attempts: number): Promise<number> => {
    await fill(400, attempts);
    const startedAt = performance.now();
    await eventually(async () => expect(await database.query(unsent)).toEqual([{ n: 0 }]), 120_000);
    return performance.now() - startedAt;
  };
  const [first, again] = [await msFor(0), await msFor(1)];
  // By the poll alone it would be four a second: a hundred seconds.
  expect(again).toBeLessThan(10 * Math.max(first, 1000));
});

test('to a receiver that still fails, retries go no faster than the poll', async () => {
  receiver.behaviour = () => 500;
  await register();
  const startedAt = performance.now();
  await fill(100, 1);
  await eventually(() => expect(receiver.attempts.length).toBeGreaterThanOrEqual(8));
  await sleep(1500);
  // Four when the poll finds them, and four a second.
  const passes = 2 + Math.ceil((performance.now() - startedAt) / 1000);
  expect(receiver.attempts.length).toBeLessThanOrEqual(4 * passes);
});

test('a lane whose replica died without notice is taken over, and its numbers continue', async () => {
  await register();
  await makeSession(gateway);
  await eventually(() => expect(receiver.bodies()).toHaveLength(1));
  await eventually(async () =>
    expect(await database.query('SELECT owner FROM hook_lanes')).toEqual([{ owner: null }]),
  );
  await database.query(`UPDATE hook_lanes SET owner = 'gone', lease_until = now() + interval '1 second'`);
  await makeSession(gateway);
  expect(receiver.bodies()).toHaveLength(1);
  await eventually(() => expect(receiver.bodies().map(({ sequence }) => sequence)).toEqual([1, 2]));
});

test('an outcome that the database refuses does not hold up others, and its delivery is sent again', async () => {
  const [refused] = [await register({ path: '/refused' }), await register({ path: '/other' })];
  await database.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON hook_deliveries FOR EACH ROW
      WHEN (NEW.status = 'delivered' AND NEW.hook_id = '${refused}') EXECUTE FUNCTION refuse()`);
  await makeSession(gateway);
  await eventually(async () =>
    expect((await deliveries()).map(({ status }) => status).sort()).toEqual(['delivered', 'pending']),
  );
  await eventually(async () =>
    expect(await deliveries()).toContainEqual({
      ...{ status: 'pending', attempts: 1, last_status: null, last_error: 'not_recorded' },
      wait: 300,
    }),
  );
  await database.query('DROP TRIGGER refuse ON hook_deliveries');
  await passTime();
  await eventually(async () =>
    expect((await deliveries()).map(({ status }) => status)).toEqual(['delivered', 'delivered']),
  );
  const [first, second] = receiver.attempts.filter(({ path }) => path === '/refused');
  expect(second?.body).toBe(first?.body);
});
