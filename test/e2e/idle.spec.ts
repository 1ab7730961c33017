import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';

/** PostgreSQL reports what a connection did during the start only after ten seconds of silence. */
const SETTLE_MS = 15_000;
const WINDOW_SECS = 10;
/** Before areas were polled together it was more than eleven. A slow machine makes fewer, never more. */
const MAX_A_SECOND = 5;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

async function transactions(): Promise<number> {
  const [row] = await gateway.database.query<{ count: number }>(
    'SELECT (xact_commit + xact_rollback)::int AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return row?.count ?? 0;
}

test('a replica with nothing to do leaves the database alone but for a look a few times a second', async () => {
  await sleep(SETTLE_MS);
  const before = await transactions();
  await sleep(WINDOW_SECS * 1000);
  expect((await transactions()) - before).toBeLessThanOrEqual(MAX_A_SECOND * WINDOW_SECS);
}, 60_000);

test('and yet it finds what another replica has left: an event whose sender is gone, settings that changed', async () => {
  const receiver = await HookReceiver.open();
  const made = await gateway.b.post('/hooks', {
    url: receiver.url(),
    events: ['config.updated'],
  });
  expect(made.status).toBe(201);
  // Committed as by another replica: nothing in this process is notified.
  await gateway.database.query(`SELECT emit_event('config.updated', NULL, '{"keys":[]}'::json)`);
  await eventually(() => expect(receiver.attempts).toHaveLength(1), 5000);
  await gateway.database.query(`INSERT INTO config_overrides (key, value) VALUES ('agent.max_turns', '7')`);
  await gateway.database.query(`UPDATE change_counters SET value = value + 1 WHERE name = 'config'`);
  await eventually(async () => {
    const shown = await gateway.b.get<{ agent: { max_turns: number } }>('/config');
    expect(shown.body.agent.max_turns).toBe(7);
  }, 5000);
  await receiver.close();
});
