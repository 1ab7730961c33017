import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';

const DEAD = 2000;
const EVENTS = 10;
/** One attempt at a silent receiver takes as long; a healthy one that waited for a few of them would be late. */
const ATTEMPT_LIMIT_MS = 15_000;

let silent: HookReceiver;
let healthy: HookReceiver;
let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  [silent, healthy] = [await HookReceiver.open(), await HookReceiver.open()];
  silent.behaviour = () => 'handled';
  database = await createTestDatabase();
  gateway = await startTestGateway({ database });
});
afterAll(async () => {
  await silent.close();
  await gateway.stop();
  await healthy.close();
  await database.drop();
});

/** More than a caller may register: half of them never answer, half of them are not there. */
async function buryReceivers(): Promise<void> {
  await database.query(
    `INSERT INTO hooks (id, url, events)
     SELECT 'dead_' || n, CASE WHEN n % 2 = 0 THEN $1 ELSE 'http://127.0.0.1:4/' END, '{session.created}'
     FROM generate_series(1, $2::int) AS n`,
    [silent.url(), DEAD],
  );
  await database.query(`INSERT INTO hook_lanes (hook_id) SELECT id FROM hooks`);
}

const failing = async (): Promise<number> =>
  (await database.query('SELECT 1 FROM hook_lanes WHERE failing_since IS NOT NULL')).length;

test('thousands of dead receivers do not delay a healthy one', async () => {
  await buryReceivers();
  await gateway.a.post('/sessions', {});
  await eventually(async () => expect(await failing()).toBe(DEAD), 90_000);
  await database.query(`INSERT INTO hooks (id, url, events) VALUES ('healthy', $1, '{session.created}')`, [
    healthy.url(),
  ]);
  await database.query(`INSERT INTO hook_lanes (hook_id) VALUES ('healthy')`);
  const tried = silent.attempts.length;
  for (let count = 0; count < EVENTS; count += 1) {
    expect(await gateway.a.post('/sessions', {})).toMatchObject({ status: 201 });
  }
  await eventually(() => expect(healthy.bodies()).toHaveLength(EVENTS), ATTEMPT_LIMIT_MS);
  expect(healthy.bodies().map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: EVENTS }, (_, index) => index + 1),
  );
  // The dead ones were being tried meanwhile, and could not have got through what they were to be told.
  await eventually(() => expect(silent.attempts.length).toBeGreaterThan(tried));
  expect(silent.attempts.length - tried).toBeLessThan((EVENTS * DEAD) / 2);
}, 150_000);
