import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

interface Shown {
  readonly agent: { readonly max_turns: number };
  readonly gateway: { readonly docs: boolean };
}

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

/** Runs a gateway on the test's database during the work, and stops it again. */
async function during<Result>(
  work: (gateway: TestGateway) => Promise<Result>,
  env: Record<string, string> = {},
): Promise<Result> {
  const gateway = await startTestGateway({ database, env });
  try {
    return await work(gateway);
  } finally {
    await gateway.stop();
  }
}

const shown = async (gateway: TestGateway): Promise<Shown> => (await gateway.b.get<Shown>('/config')).body;
const store = (key: string, value: unknown) =>
  database.query('INSERT INTO config_overrides (key, value) VALUES ($1, $2)', [key, JSON.stringify(value)]);

test('what PATCH stored is in force after a restart, also the keys that waited for it', async () => {
  const docs = async (gateway: TestGateway) =>
    (await fetch(`http://127.0.0.1:${gateway.started.ports.b}/openapi.json`)).status;
  await during(async (gateway) => {
    const body = {
      'agent.max_turns': 7,
      'gateway.docs': false,
      'logging.level': 'error',
      'logging.requests': 'all',
    };
    expect((await gateway.b.patch('/config', body)).body).toMatchObject({ reload_required: true });
    expect(await docs(gateway)).toBe(200);
  });
  await during(async (gateway) => {
    expect(await shown(gateway)).toMatchObject({ agent: { max_turns: 7 }, gateway: { docs: false } });
    expect(await docs(gateway)).not.toBe(200);
    expect(gateway.logLines.join('')).not.toContain('"gateway::access"');
  });
});

test('stored keys that do not fit any more are named in a warning and stop nothing; null removes them', async () => {
  // The database knows its master key now. A single secret sealed with another key is a leftover, not a sign of
  // another key.
  await during(() => Promise.resolve());
  await store('agent.max_turns', 7);
  await store('agent.forgotten_key', 1);
  await store('memory.top_k', 'canary-many');
  await store('provider.kind', 'anthropic');
  await database.query(
    `INSERT INTO config_overrides (key, sealed) VALUES ('provider.api_key', 'agw1:00000000:${'A'.repeat(60)}')`,
  );
  await during(async (gateway) => {
    const warnings = gateway.logLines.filter((line) => line.includes('no longer fits'));
    expect(warnings).toHaveLength(4);
    for (const key of ['agent.forgotten_key', 'memory.top_k', 'provider.kind', 'provider.api_key'])
      expect(warnings.join()).toContain(key);
    expect(warnings.join()).not.toContain('canary');
    expect(await shown(gateway)).toMatchObject({ agent: { max_turns: 7 }, provider: { kind: 'auto' } });
    expect((await gateway.b.patch('/config', { 'agent.max_turns': 8 })).status).toBe(200);
    expect((await gateway.b.patch('/config', { 'agent.forgotten_key': 2 })).status).toBe(400);
    const removed = { 'agent.forgotten_key': null, memory: null, provider: null };
    expect((await gateway.b.patch('/config', removed)).status).toBe(200);
  });
  const left = await database.query('SELECT key FROM config_overrides');
  expect(left).toEqual([{ key: 'agent.max_turns' }]);
});

test('production with a database of your own does not start without a master key', async () => {
  const env = { NODE_ENV: 'production', GATEWAY_MASTER_KEY: '' };
  await expect(startTestGateway({ database, env })).rejects.toThrow('GATEWAY_MASTER_KEY');
  await during((gateway) => shown(gateway), { NODE_ENV: 'production' });
});
