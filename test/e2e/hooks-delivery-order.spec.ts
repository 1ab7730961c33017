import { setTimeout as sleep } from 'node:timers/promises';
import { RETRY_DELAYS_SECS } from '../../src/areas/hooks/retry-schedule.js';
import { newWebhookSecret } from '../../src/common/text/webhook-secret.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway } from '../harness/gateway.js';
import { HookBench } from '../harness/hook-bench.js';
import { verifyAttempt } from '../harness/webhook-judges.js';

let bench: HookBench;
beforeAll(async () => {
  bench = await HookBench.open();
});
beforeEach(() => bench.openReceiver());
afterEach(() => bench.forget());
afterAll(() => bench.close());

/** Moves the retry schedule past every wait, by the database's clock. */
const passTime = () =>
  bench.database.query(
    `UPDATE hook_deliveries SET next_attempt_at = now() WHERE status = 'pending' AND attempts > 0`,
  );

/** So many deliveries for each webhook: new ones, or such that are due once more. */
const fill = (events: number, attempts: number) =>
  bench.database.query(
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
  bench.receiver.behaviour = () => 500;
  const secret = newWebhookSecret();
  await bench.register({ secret });
  await bench.makeSession();
  for (const [index, planned] of RETRY_DELAYS_SECS.entries()) {
    const { status, wait, last_status } = await bench.firstAfter(index + 1);
    expect([status, last_status]).toEqual(['pending', 500]);
    expect(wait).toBeGreaterThanOrEqual(planned * 0.8);
    expect(wait).toBeLessThanOrEqual(planned * 1.2);
    if (index === 3) await bench.restart();
    await passTime();
  }
  expect(await bench.firstAfter(RETRY_DELAYS_SECS.length + 1)).toMatchObject({
    status: 'failed',
    wait: null,
  });
  expect(bench.receiver.attempts).toHaveLength(10);
  expect(new Set(bench.receiver.attempts.map(({ body }) => body)).size).toBe(1);
  expect(new Set(bench.receiver.attempts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  for (const attempt of bench.receiver.attempts) verifyAttempt(attempt, secret);
  const hooks = await bench.gateway.a.get<{ hooks: { active: boolean }[] }>('/hooks');
  expect(hooks.body.hooks[0]?.active).toBe(true);
}, 60_000);

test('five days of nothing but failures end a hook, and one success restarts them', async () => {
  bench.receiver.behaviour = () => 503;
  const id = await bench.register({ events: ['session.created'] });
  await bench.makeSession();
  await bench.firstAfter(1);
  await bench.database.query(`UPDATE hook_lanes SET failing_since = now() - interval '4 days 23 hours'`);
  await passTime();
  await bench.firstAfter(2);
  bench.receiver.behaviour = () => 200;
  await passTime();
  await bench.firstAfter(3);
  expect(await bench.database.query(`SELECT failing_since FROM hook_lanes`)).toEqual([
    { failing_since: null },
  ]);
  bench.receiver.behaviour = () => 503;
  await bench.database.query(`UPDATE hook_lanes SET failing_since = now() - interval '5 days 1 hour'`);
  await bench.makeSession();
  await eventually(async () => {
    const { body } = await bench.gateway.a.get<{ hooks: { id: string; active: boolean }[] }>('/hooks');
    expect(body.hooks).toMatchObject([{ id, active: false }]);
  });
});

test('two replicas send every event once, in one order without gaps', async () => {
  const other = await startTestGateway({ database: bench.database });
  try {
    await bench.register();
    const rounds = Array.from({ length: 40 }, (_, index) => index);
    await Promise.all(rounds.map((index) => bench.makeSession(index % 2 === 0 ? bench.gateway : other)));
    await Promise.all(rounds.map((index) => bench.makeSession(index % 2 === 0 ? other : bench.gateway)));
    await eventually(() => expect(bench.receiver.bodies().length).toBeGreaterThanOrEqual(80));
    const expected = Array.from({ length: 80 }, (_, index) => index + 1);
    expect(bench.receiver.bodies().map(({ sequence }) => sequence)).toEqual(expected);
    expect(new Set(bench.receiver.bodies().map(({ id }) => id)).size).toBe(80);
  } finally {
    await other.stop();
  }
});

test('a large backlog, claimed ahead, is sent once, in one order without gaps', async () => {
  const [paths, events] = [['/one', '/two', '/three'], 1200];
  for (const path of paths) await bench.register({ path });
  await fill(events, 0);
  const unsent = `SELECT count(*)::int AS n FROM hook_deliveries WHERE status <> 'delivered'`;
  await eventually(async () => expect(await bench.database.query(unsent)).toEqual([{ n: 0 }]), 60_000);
  const expected = Array.from({ length: events }, (_, index) => index + 1);
  for (const path of paths) {
    expect(bench.receiver.bodies(path).map(({ sequence }) => sequence)).toEqual(expected);
    expect(new Set(bench.receiver.bodies(path).map(({ id }) => id)).size).toBe(events);
  }
});

test('what an outage left is sent again as fast as the receiver takes it, a few at once', async () => {
  await bench.register();
  const unsent = `SELECT count(*)::int AS n FROM hook_deliveries WHERE status <> 'delivered'`;
  const msFor = async (attempts: number): Promise<number> => {
    await fill(400, attempts);
    const startedAt = performance.now();
    await eventually(async () => expect(await bench.database.query(unsent)).toEqual([{ n: 0 }]), 120_000);
    return performance.now() - startedAt;
  };
  const [first, again] = [await msFor(0), await msFor(1)];
  // By the poll alone it would be four a second: a hundred seconds.
  expect(again).toBeLessThan(10 * Math.max(first, 1000));
});

test('to a receiver that still fails, retries go no faster than the poll', async () => {
  bench.receiver.behaviour = () => 500;
  await bench.register();
  const startedAt = performance.now();
  await fill(100, 1);
  await eventually(() => expect(bench.receiver.attempts.length).toBeGreaterThanOrEqual(8));
  await sleep(1500);
  // Four when the poll finds them, and four a second.
  const passes = 2 + Math.ceil((performance.now() - startedAt) / 1000);
  expect(bench.receiver.attempts.length).toBeLessThanOrEqual(4 * passes);
});

test('a lane whose replica died without notice is taken over, and its numbers continue', async () => {
  await bench.register();
  await bench.makeSession();
  await eventually(() => expect(bench.receiver.bodies()).toHaveLength(1));
  await eventually(async () =>
    expect(await bench.database.query('SELECT owner FROM hook_lanes')).toEqual([{ owner: null }]),
  );
  await bench.database.query(
    `UPDATE hook_lanes SET owner = 'gone', lease_until = now() + interval '1 second'`,
  );
  await bench.makeSession();
  expect(bench.receiver.bodies()).toHaveLength(1);
  await eventually(() => expect(bench.receiver.bodies().map(({ sequence }) => sequence)).toEqual([1, 2]));
});

test('an outcome that the database refuses does not hold up others, and its delivery is sent again', async () => {
  const [refused] = [await bench.register({ path: '/refused' }), await bench.register({ path: '/other' })];
  await bench.database.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON hook_deliveries FOR EACH ROW
      WHEN (NEW.status = 'delivered' AND NEW.hook_id = '${refused}') EXECUTE FUNCTION refuse()`);
  await bench.makeSession();
  await eventually(async () =>
    expect((await bench.deliveries()).map(({ status }) => status).sort()).toEqual(['delivered', 'pending']),
  );
  await eventually(async () =>
    expect(await bench.deliveries()).toContainEqual({
      ...{ status: 'pending', attempts: 1, last_status: null, last_error: 'not_recorded' },
      wait: 300,
    }),
  );
  await bench.database.query('DROP TRIGGER refuse ON hook_deliveries');
  await passTime();
  await eventually(async () =>
    expect((await bench.deliveries()).map(({ status }) => status)).toEqual(['delivered', 'delivered']),
  );
  const [first, second] = bench.receiver.attempts.filter(({ path }) => path === '/refused');
  expect(second?.body).toBe(first?.body);
});
