import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';

const DEAD = 1000;
const EVENTS = 10;
/** The healthy receiver loses this delivery once. */
const LOST = 3;
/** One attempt at a silent receiver takes this long, and there are a thousand of them. */
const ATTEMPT_LIMIT_MS = 8000;
/** Enough for two first retries; waiting for the dead receivers would take much longer. */
const TIMEOUT_MS = 25_000;

let silent: HookReceiver;
let healthy: HookReceiver;
let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  [silent, healthy] = [await HookReceiver.open(), await HookReceiver.open()];
  silent.behaviour = () => 'handled';
  database = await createTestDatabase();
  gateway = await startTestGateway({
    database,
    env: { GATEWAY__HOOKS__TIMEOUT_MS: String(ATTEMPT_LIMIT_MS), GATEWAY__DATABASE__POOL_SIZE: '10' },
  });
});
afterAll(async () => {
  await silent.close();
  await gateway.stop();
  await healthy.close();
  await database.drop();
});

/** Registers more than a caller may: half of them never answer, half of them do not exist. */
async function registerDeadReceivers(): Promise<void> {
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

test('a thousand dead receivers do not delay a healthy one', async () => {
  await registerDeadReceivers();
  await gateway.a.post('/sessions', {});
  await eventually(async () => expect(await failing()).toBe(DEAD), 90_000);
  await database.query(`INSERT INTO hooks (id, url, events) VALUES ('healthy', $1, '{session.created}')`, [
    healthy.url(),
  ]);
  await database.query(`INSERT INTO hook_lanes (hook_id) VALUES ('healthy')`);
  const tried = silent.attempts.length;
  // Its third delivery is lost once. It is retried beside everything that is due to the dead receivers.
  const told = new Set<number>();
  let isLost = false;
  healthy.behaviour = ({ json: { sequence } }, response) => {
    if (sequence === LOST && !isLost) {
      isLost = true;
      response.destroy();
      return 'handled';
    }
    told.add(sequence);
    return 200;
  };
  for (let count = 0; count < EVENTS; count += 1) {
    expect(await gateway.a.post('/sessions', {})).toMatchObject({ status: 201 });
  }
  const all = Array.from({ length: EVENTS }, (_, index) => index + 1);
  await eventually(() => expect([...told].sort((a, b) => a - b)).toEqual(all), TIMEOUT_MS);
  // The dead receivers were tried meanwhile, and cannot have taken all their deliveries.
  await eventually(() => expect(silent.attempts.length).toBeGreaterThan(tried));
  expect(silent.attempts.length - tried).toBeLessThan((EVENTS * DEAD) / 2);
}, 150_000);
