import type { PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import { Unavailable } from '../../src/common/errors/gateway-error.js';
import type { PooledDataSource } from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { integer } from '../../src/platform/database/sql-types.js';
import { statement } from '../../src/platform/database/statement.js';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { expectCommonHeaders, expectError } from '../contract/support/envelope.js';
import { PROFILE_DIFFERENCES, PROFILES, sortedKeys, type Wire } from '../contract/support/faces.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { FaultProxy } from '../harness/fault-proxy.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { Answer } from '../harness/http-caller.js';
import { promptly } from '../harness/promptly.js';

let database: TestDatabase;
let relay: FaultProxy;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createTestDatabase();
  relay = await FaultProxy.to(database.url);
  gateway = await startTestGateway({ database: { ...database, url: relay.url } });
});
afterAll(async () => {
  await gateway.stop();
  await relay.cut();
  await database.drop();
});

async function until(what: () => Promise<Answer>, status: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  while ((await what()).status !== status) {
    if (Date.now() > deadline) throw new Error(`Not ${status} within 10 s.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('a connection that breaks between two statements of a transaction fails that transaction alone', async () => {
  const ASK = statement({
    name: 'test.backend',
    params: {},
    row: { pid: integer },
    sql: 'SELECT pg_backend_pid() AS pid',
  });
  const own = gateway.started.app.get(Database, { strict: false });
  const { pool } = gateway.started.app.get<PooledDataSource>(DataSource, { strict: false });
  const lent: PoolClient[] = [];
  pool.once('acquire', (client: PoolClient) => lent.push(client));
  const work = own.transaction(async (runner) => {
    // Outside a test, an error without a listener would end the process.
    expect(lent.map((client) => client.listenerCount('error'))).toEqual([1]);
    const [{ pid } = { pid: 0 }] = await runner.query(ASK);
    await database.query('SELECT pg_terminate_backend($1)', [pid]);
    await eventually(async () =>
      expect(await database.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid])).toEqual([]),
    );
    await runner.query(ASK);
  });
  await expect(work).rejects.toThrow(Unavailable);
  for (const profile of PROFILES) expect((await gateway[profile].get('/sessions')).status).toBe(200);
});

describe('while the database cannot be reached', () => {
  beforeAll(async () => {
    for (const profile of PROFILES) expect((await gateway[profile].get('/sessions')).status).toBe(200);
    await relay.cut();
  });
  afterAll(() => relay.mend());

  test.each(PROFILES)(
    '503 internal_error with Retry-After: nobody is let through in Profile %s',
    async (profile) => {
      const stranger = gateway.caller(profile, mintToken());
      const answers = [
        await gateway[profile].get('/sessions'),
        await gateway[profile].post('/sessions', {}),
        await gateway[profile].delete('/sessions/sess_01jd8v3q5ze0psx2w9t6m4k7ah'),
        await stranger.get('/sessions'),
      ];
      for (const answer of answers) {
        const error = expectError(profile, answer, 503, 'internal_error');
        if (profile === 'b') expect(error.details).toEqual({ reason: 'database_unavailable' });
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
        expectCommonHeaders(answer);
      }
    },
  );

  test.each(PROFILES)('what is no token is 401 as ever in Profile %s', async (profile) => {
    for (const token of [undefined, 'garbage'])
      expectError(profile, await gateway.caller(profile, token).get('/sessions'), 401, 'unauthorized');
  });

  test.each(PROFILES)('the health endpoint of Profile %s answers 503 with its own body', async (profile) => {
    await until(() => gateway[profile].get(PROFILE_DIFFERENCES[profile].health), 503);
    const { body } = await gateway[profile].get<Wire>(PROFILE_DIFFERENCES[profile].health);
    if (profile === 'b') expect(body).toEqual({ healthy: false });
    else
      expect([body['status'], sortedKeys(body)]).toEqual(['unhealthy', ['status', 'uptime_secs', 'version']]);
  });

  test('/metrics answers, says that the database is away, and leaves out what only the database knows', async () => {
    const { status, text } = await gateway.operations.get('/metrics');
    expect([status, samples(text)]).toEqual([200, ['agent_gateway_database_up 0']]);
    expect(text).toMatch(/^process_cpu_seconds_total \S/m);
  });

  test('nothing of it is logged as an error but the lines of the requests: it is the database that fails', () => {
    const errors = gateway.logLines.filter((line) => line.includes('"level":"error"'));
    expect(errors.filter((line) => !line.includes('"module":"gateway::access"'))).toEqual([]);
  });
});

/** What a scrape says of the database, and of what only the database knows. */
const samples = (metrics: string): string[] => [
  ...(metrics.match(
    /^agent_gateway_(?:database_up|sessions_active|hook_\w+(?:deliveries|seconds)|memory_entries)\b.*$/gm,
  ) ?? []),
];

test('afterwards /metrics has everything again', async () => {
  await eventually(async () => {
    const { text } = await gateway.operations.get('/metrics');
    expect(samples(text)).toEqual(expect.arrayContaining(['agent_gateway_database_up 1']));
    expect(samples(text).length).toBe(5);
  });
});

test.each(PROFILES)('afterwards Profile %s answers again without a restart', async (profile) => {
  await until(() => gateway[profile].get('/sessions'), 200);
  await until(() => gateway[profile].get(PROFILE_DIFFERENCES[profile].health), 200);
  expect((await gateway[profile].post('/sessions', {})).status).toBe(201);
});

test('a database that takes no connections is no different', async () => {
  const name = new URL(database.url).pathname.slice(1);
  const admin = async (sql: string) => {
    const other = await createTestDatabase();
    await other.query(sql).finally(() => other.drop());
  };
  await admin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  try {
    await admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    for (const profile of PROFILES) {
      await until(() => gateway[profile].get('/sessions'), 503);
      expectError(profile, await gateway[profile].post('/sessions', {}), 503, 'internal_error');
    }
  } finally {
    await admin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  }
  for (const profile of PROFILES) await until(() => gateway[profile].get('/sessions'), 200);
});

test('a database that hangs is no different: requests that need a connection are refused in a few seconds; alive, not ready, and back without a restart', async () => {
  relay.freeze();
  try {
    const reason = 'the database did not answer within 2000 ms';
    // A state that is a quarter of a second old is recent enough for a probe.
    await eventually(async () => {
      const ready = await gateway.operations.get<{ error: object }>('/readyz');
      expect([ready.status, ready.body.error]).toEqual([503, { database: { status: 'down', reason } }]);
    });
    const [a, b] = await Promise.all(PROFILES.map((profile) => gateway[profile].get('/sessions')));
    expectError('a', a!, 503, 'internal_error');
    expect(expectError('b', b!, 503, 'internal_error').details).toEqual({ reason: 'database_unavailable' });
    for (const answer of [a!, b!]) expectCommonHeaders(answer);
    expect((await gateway.operations.get('/livez')).status).toBe(200);
    const scrape = await promptly(5000, () => gateway.operations.get('/metrics'));
    expect([scrape.status, samples(scrape.text)]).toEqual([200, ['agent_gateway_database_up 0']]);
  } finally {
    relay.thaw();
  }
  for (const profile of PROFILES) await until(() => gateway[profile].get('/sessions'), 200);
});
