import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Deliverer } from '../../src/areas/hooks/deliverer.service.js';
import { FirstAttempts } from '../../src/areas/hooks/first-attempts.js';
import { LaneStore } from '../../src/areas/hooks/lane.store.js';
import { LANES_LEFT, LaneOwner } from '../../src/areas/hooks/lane-owner.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type GatewayProcess, ProcessBench } from '../harness/gateway-process.js';
import { HookReceiver } from '../harness/hook-receiver.js';

jest.setTimeout(90_000);

/** Generous for a busy machine, and a fraction of the lease that the tests write into the row. */
const SOON_MS = 10_000;

const bench = new ProcessBench();
let database: TestDatabase;
let gateway: TestGateway;
let receiver: HookReceiver;
let hook = 0;

beforeAll(async () => {
  const made = await createTestDatabase();
  // Without a pooler, behind which no session can hold a lock.
  database = { ...made, url: made.directUrl };
  receiver = await HookReceiver.open();
  gateway = await startTestGateway({ database });
  await eventually(() => expect(namesOf(gateway)[0]).toContain('#'));
});
afterAll(async () => {
  await bench.clear();
  await receiver.close();
  await gateway.stop();
  await database.drop();
});
beforeEach(async () => {
  await database.query('DELETE FROM hook_lanes');
  await database.query('DELETE FROM hooks');
  receiver.attempts.length = 0;
  receiver.behaviour = ({ path }) => (path.startsWith('/hang') ? 'handled' : 200);
});

const namesOf = ({ started }: TestGateway) => started.app.get(LaneOwner, { strict: false }).names;
const arrived = (path: string) => receiver.attempts.filter((attempt) => attempt.path === path).length;

async function ownerOf(path: string): Promise<string | null> {
  const [lane] = await database.query<{ owner: string | null }>(
    `SELECT owner FROM hook_lanes JOIN hooks ON id = hook_id WHERE url = $1`,
    [receiver.url(path)],
  );
  return lane?.owner ?? null;
}

async function hookAt(path: string): Promise<void> {
  await gateway.b.post('/hooks', { url: receiver.url(path), events: ['session.created'] });
}

/** A process that holds a lane with one delivery in flight, and the lane's path. */
async function processWithLane(): Promise<{ process: GatewayProcess; path: string }> {
  const process = await bench.serve({
    env: {
      DATABASE_URL: database.url,
      GATEWAY_MASTER_KEY: 'a master key that only tests may use',
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'always',
    },
  });
  // It is random which replica gets a lane. Repeats until this one has it.
  for (let tries = 0; tries < 40; tries += 1) {
    const path = `/hang/${hook++}`;
    await hookAt(path);
    const headers = { authorization: `Bearer ${gateway.token}` };
    await fetch(`${process.b}/sessions`, { method: 'POST', headers });
    await eventually(() => expect(arrived(path)).toBe(1), SOON_MS);
    const owner = await ownerOf(path);
    if (owner?.includes('#') === true && !namesOf(gateway).includes(owner)) return { process, path };
  }
  throw new Error('The process never had a lane.');
}

/** Its lease keeps the others from taking it. */
const leaseForLong = () =>
  database.query(`UPDATE hook_lanes SET lease_until = now() + interval '1 hour' WHERE owner IS NOT NULL`);

test('the lane of a replica that was killed is free at once, however long its lease is', async () => {
  const { process, path } = await processWithLane();
  process.kill('SIGSTOP');
  await leaseForLong();
  // The process hangs and keeps its lock, so nobody can take the lane.
  await gateway.b.post('/sessions', {});
  await sleep(1500);
  expect(arrived(path)).toBe(1);
  process.kill('SIGKILL');
  await eventually(() => expect(arrived(path)).toBe(2), SOON_MS);
  expect(namesOf(gateway)).toContain(await ownerOf(path));
});

test('a replica that loses the connection of its lock keeps its lanes by their leases, and takes the lock again', async () => {
  await hookAt('/hang/kept');
  await gateway.b.post('/sessions', {});
  await eventually(() => expect(arrived('/hang/kept')).toBe(1));
  const [locked = '', plain = ''] = namesOf(gateway);
  const key = locked.slice(plain.length + 1);
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND (classid::int8 << 32) + objid::int8 = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [key],
  );
  await eventually(async () => expect(await ownerOf('/hang/kept')).toBe(plain));
  await eventually(async () => expect(await ownerOf('/hang/kept')).toBe(locked), SOON_MS);
  expect(arrived('/hang/kept')).toBe(1);
});

test('a stopping replica notifies the others of lanes it releases with something to send, and they look at once', async () => {
  const alone = await startTestGateway();
  const client = new Client(alone.database.directUrl);
  await client.connect();
  try {
    const told: string[] = [];
    client.on('notification', ({ channel }) => told.push(channel));
    await client.query(`LISTEN ${LANES_LEFT}`);
    await alone.b.post('/hooks', { url: receiver.url('/hang/left'), events: ['session.created'] });
    for (const _event of [1, 2]) await alone.b.post('/sessions', {});
    await eventually(() => expect(arrived('/hang/left')).toBe(1));
    await alone.started.app.get(Deliverer, { strict: false }).onModuleDestroy();
    await eventually(() => expect(told).toEqual([LANES_LEFT]));
  } finally {
    await client.end();
    await alone.stop();
  }
  const firsts = gateway.started.app.get(FirstAttempts, { strict: false });
  await eventually(() => expect(firsts.holdsLanes).toBe(false));
  const passes = jest.spyOn(firsts, 'pass');
  await database.query(`NOTIFY ${LANES_LEFT}`);
  // Without it, it would look after 30 s.
  await eventually(() => expect(passes).toHaveBeenCalled(), 5000);
  passes.mockRestore();
});

test('a claim is planned for the tables as they are: lanes that were empty for long and then have much to send do not take seconds', async () => {
  const alone = await startTestGateway({ env: { GATEWAY__DATABASE__POOL_SIZE: '2' } });
  const hooks = Array.from({ length: 20 }, (_, n) => `hook_much${n}`);
  try {
    await alone.database.query('ALTER TABLE hook_deliveries SET (autovacuum_enabled = off)');
    await alone.b.post('/hooks', { url: receiver.url('/live/much'), events: ['session.created'] });
    // Often enough for a plan to be kept on each connection of the pool.
    for (let event = 1; event <= 30; event += 1) {
      await alone.b.post('/sessions', {});
      await eventually(() => expect(arrived('/live/much')).toBe(event));
    }
    const next = jest.spyOn(alone.started.app.get(LaneStore, { strict: false }), 'next');
    await alone.database.query(
      `INSERT INTO hooks (id, url, events) SELECT id, $2, '{session.created}' FROM unnest($1::text[]) AS id`,
      [hooks, receiver.url('/hang/much')],
    );
    await alone.database.query('INSERT INTO hook_lanes (hook_id) SELECT unnest($1::text[])', [hooks]);
    await alone.database.query(
      `INSERT INTO hook_deliveries (hook_id, event_id, event) SELECT hook_id, e.id, 'session.created'
       FROM unnest($1::text[]) AS hook_id, generate_series(1, 50), (SELECT id FROM events ORDER BY id LIMIT 30) AS e`,
      [hooks],
    );
    await eventually(() => expect(arrived('/hang/much')).toBe(20), 60_000);
    await expect(Promise.all(next.mock.results.map(({ value }) => value as unknown))).resolves.toBeDefined();
  } finally {
    await alone.stop();
  }
});
