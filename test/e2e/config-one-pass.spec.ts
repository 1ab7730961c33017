import { ConfigurationWatch } from '../../src/areas/config/configuration-watch.service.js';
import { settingsSchema } from '../../src/platform/settings/settings.schema.js';
import { SettingsChanges } from '../../src/platform/settings/settings-changes.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  // Shortly after the start it checks the file, which would be another reload.
  await gateway.started.app.get(ConfigurationWatch).onModuleDestroy();
});
afterAll(() => gateway.stop());

/** Does the work, and reports how often the schema parsed the settings and which keys each listener was told. */
async function counted(work: () => Promise<{ readonly status: number }>) {
  const told: (readonly string[])[] = [];
  const others: (readonly string[])[] = [];
  const changes = gateway.started.app.get(SettingsChanges);
  const ends = [
    changes.listen(['agent', 'agent.max_turns', 'gateway'], ({ keys }) => told.push(keys)),
    changes.listen(['hooks'], ({ keys }) => others.push(keys)),
  ];
  const parse = jest.spyOn(settingsSchema, 'safeParse');
  try {
    const { status } = await work();
    return { status, parses: parse.mock.calls.length, told, others };
  } finally {
    parse.mockRestore();
    for (const end of ends) end();
  }
}

test('a PATCH is parsed once, and each listener that it concerns is called once', async () => {
  const body = { 'agent.max_turns': 7, 'agent.max_waiting': 3 };
  expect(await counted(() => gateway.b.patch('/config', body))).toEqual({
    ...{ status: 200, parses: 1, others: [] },
    told: [['agent.max_turns', 'agent.max_waiting']],
  });
});

test('also one with an Idempotency-Key and If-Match', async () => {
  const etag = (await gateway.b.get('/config')).headers.get('etag') ?? '';
  const headers = { 'Idempotency-Key': 'one-pass', 'If-Match': etag };
  const patch = () => gateway.b.patch('/config', { 'agent.max_turns': 8 }, headers);
  expect(await counted(patch)).toEqual({ status: 200, parses: 1, told: [['agent.max_turns']], others: [] });
});

test('one that changes nothing is not parsed, and no listener is called', async () => {
  expect(await counted(() => gateway.b.patch('/config', { 'agent.max_turns': 8 }))).toEqual({
    ...{ status: 200, parses: 0, told: [], others: [] },
  });
});

test('a key that waits for a restart is parsed once, and no listener is called', async () => {
  expect(await counted(() => gateway.b.patch('/config', { 'gateway.port': 4711 }))).toEqual({
    ...{ status: 200, parses: 1, told: [], others: [] },
  });
});

test('a rollback is parsed once, and a reload once without and once with the stored changes', async () => {
  await gateway.b.patch('/config', { 'agent.max_turns': 9 });
  expect(await counted(() => gateway.admin.post('/config/rollback', {}))).toEqual({
    ...{ status: 200, parses: 1, told: [['agent.max_turns']], others: [] },
  });
  expect(await counted(() => gateway.a.post('/config/reload', {}))).toEqual({
    ...{ status: 200, parses: 2, told: [], others: [] },
  });
});

test('what another replica has just stored is parsed once itself, and both are in force', async () => {
  const { status, parses } = await counted(async () => {
    await gateway.database.query(`
      WITH counted AS (UPDATE change_counters SET value = value + 1 WHERE name = 'config')
      INSERT INTO config_overrides (key, value) VALUES ('agent.max_waiting', '5')
      ON CONFLICT (key) DO UPDATE SET value = excluded.value`);
    return gateway.b.patch('/config', { 'agent.max_turns': 11 });
  });
  expect([status, parses]).toEqual([200, 2]);
  expect((await gateway.b.get('/config')).body).toMatchObject({ agent: { max_turns: 11, max_waiting: 5 } });
});
