import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { LaneOwner } from '../../src/areas/hooks/lane-owner.js';
import { Database } from '../../src/platform/database/database.js';
import { ReplicaId } from '../../src/platform/lifecycle/replica-id.js';
import { withDeadline } from '../../src/platform/runtime/with-deadline.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { HookReceiver } from '../harness/hook-receiver.js';

jest.setTimeout(90_000);

/** Generous compared with docs/webhooks.md (2 s), and half of the lease that once delayed deliveries. */
const SOON_MS = 5000;
const EVENTS = 60;
const DEAD = 20;

const bench = new ProcessBench();
let database: TestDatabase;
let gateway: TestGateway;
let other: TestGateway;
let receiver: HookReceiver;
let hook = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await HookReceiver.open();
  gateway = await startTestGateway({ database });
  other = await startTestGateway({ database });
});
afterAll(async () => {
  await bench.clear();
  await receiver.close();
  await Promise.all([gateway, other].map((one) => one.stop()));
  await database.drop();
});
beforeEach(async () => {
  await database.query('DELETE FROM hook_lanes');
  await database.query('DELETE FROM hooks');
  receiver.attempts.length = 0;
  receiver.behaviour = ({ path }) => (path.startsWith('/hang') ? 'handled' : 200);
});

/** A hook that subscribes to new sessions, at this path of the receiver. */
async function hookAt(path: string, on = gateway): Promise<string> {
  const wish = { url: receiver.url(path), events: ['session.created'] };
  return (await on.b.post<{ id: string }>('/hooks', wish)).body.id;
}

const arrived = (path: string) => receiver.attempts.filter((attempt) => attempt.path === path);

/** Milliseconds until the next delivery arrives there. */
async function untilNext(path: string, cause: () => Promise<unknown>): Promise<number> {
  const before = arrived(path).length;
  const began = performance.now();
  await cause();
  await eventually(() => expect(arrived(path).length).toBeGreaterThan(before), 30_000);
  return performance.now() - began;
}

test('a lane that its replica holds without knowing it, because a release or an answer was lost, is served at once', async () => {
  const id = await hookAt('/live');
  const { value } = gateway.started.app.get(ReplicaId, { strict: false });
  await database.query(
    `UPDATE hook_lanes SET owner = $2, lease_until = now() + interval '1 minute' WHERE hook_id = $1`,
    [id, value],
  );
  expect(await untilNext('/live', () => gateway.b.post('/sessions', {}))).toBeLessThan(SOON_MS);
});

test('a lane that another statement keeps locked delays no other lane', async () => {
  const alone = await startTestGateway();
  const client = new Client(alone.database.directUrl);
  await client.connect();
  try {
    const hanging = await hookAt('/hang', alone);
    await untilNext('/hang', () => alone.b.post('/sessions', {}));
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM hook_lanes WHERE hook_id = $1 FOR UPDATE', [hanging]);
    await hookAt('/live', alone);
    // Longer than any replica waits to renew its leases.
    await sleep(3500);
    expect(await untilNext('/live', () => alone.b.post('/sessions', {}))).toBeLessThan(SOON_MS);
  } finally {
    await client.query('ROLLBACK');
    await client.end();
    await alone.stop();
  }
});

test('what a killed replica had claimed is sent by another one as soon as its lease has run out', async () => {
  const doomed = await bench.serve({
    env: {
      DATABASE_URL: database.url,
      GATEWAY_MASTER_KEY: 'a master key that only tests may use',
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
    },
  });
  // It is random which replica gets the lane. Repeats until the one that will die has it.
  for (let tries = 0; tries < 40; tries += 1) {
    const path = `/hang/${hook++}`;
    await hookAt(path);
    await untilNext(path, () =>
      fetch(`${doomed.b}/sessions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.token}` },
      }),
    );
    const [lane] = await database.query<{ owner: string }>(
      `SELECT owner FROM hook_lanes JOIN hooks ON id = hook_id WHERE url = $1`,
      [receiver.url(path)],
    );
    // With the key of its lock and without: a lane has the key only while the lock is held.
    const living = [gateway, other].flatMap(
      ({ started }) => started.app.get(LaneOwner, { strict: false }).names,
    );
    if (lane === undefined || living.includes(lane.owner)) continue;
    const again = await untilNext(path, () => Promise.resolve(doomed.kill('SIGKILL')));
    expect(again).toBeLessThan(SOON_MS);
    return;
  }
  throw new Error('The process never had a lane.');
});

test('a replica that is stopped while it opens the session of its lock does not wait for its end', async () => {
  const real = gateway.started.app.get(Database, { strict: false });
  let open: () => void = () => undefined;
  const mayOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  const session = () => mayOpen.then(() => real.session());
  const owner = new LaneOwner({ session } as Database, new ReplicaId());
  owner.start({ renamed: () => undefined, lanesLeft: () => undefined });
  const stopped = owner.stop();
  open();
  await withDeadline(stopped, SOON_MS, () => {
    throw new Error('The stop waits for ever.');
  });
});

test('twenty dead hooks, hooks that are deleted and replicas that come and go delay no first attempt for long', async () => {
  for (let n = 0; n < DEAD; n += 1) {
    await database.query(
      `WITH made AS (INSERT INTO hooks (id, url, events) VALUES ($1, $2, '{session.created}') RETURNING id)
       INSERT INTO hook_lanes (hook_id) SELECT id FROM made`,
      [`hook_dead${n}`, n % 2 === 0 ? 'http://127.0.0.1:4/' : receiver.url(`/hang/dead${n}`)],
    );
  }
  for (const path of ['/live/1', '/live/2', '/live/3']) await hookAt(path);
  const third = await startTestGateway({ database });
  for (let event = 0; event < EVENTS; event += 1) {
    const on = [gateway, other][event % 2] ?? gateway;
    expect((await on.b.post('/sessions', {})).status).toBe(201);
    if (event % 6 === 0) {
      const path = `/hang/short${event}`;
      const id = await hookAt(path, on);
      await on.b.post('/sessions', {});
      await other.b.delete(`/hooks/${id}`);
    }
    if (event === EVENTS / 2) await third.stop();
  }
  const wanted = 3 * (EVENTS + Math.ceil(EVENTS / 6));
  await eventually(() => {
    const told = new Set(
      receiver.attempts
        .filter(({ path }) => path.startsWith('/live'))
        .map(({ path, json }) => path + json.id),
    );
    expect(told.size).toBe(wanted);
  }, 30_000);
  const first = new Map<string, number>();
  for (const { path, json, at } of receiver.attempts) {
    const key = path + json.id;
    if (path.startsWith('/live') && !first.has(key))
      first.set(key, performance.timeOrigin + at - Date.parse(json.timestamp));
  }
  const ages = [...first.values()].sort((one, two) => one - two);
  expect(ages.at(-1)).toBeLessThan(SOON_MS);
});
