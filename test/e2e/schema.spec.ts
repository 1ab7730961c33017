import { createDataSource } from '../../ormconfig.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';

const DRIFT = 'the database schema differs';
const limits = { size: 2, connectTimeoutMs: 5000, statementTimeoutMs: 0, onIdleError: () => undefined };

const processes = new ProcessBench();
let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());
afterAll(() => processes.clear());

test('a migrated database is what the code believes: a start warns of no drift', async () => {
  const gateway = await startTestGateway({ database });
  await gateway.stop();
  expect(gateway.logLines.filter((line) => line.includes(DRIFT))).toEqual([]);
});

test('a schema that was changed by hand is warned of, by name, and the gateway starts all the same', async () => {
  await database.query('ALTER TABLE sessions DROP COLUMN turn_owner');
  const gateway = await startTestGateway({ database });
  await gateway.stop();
  const [warning] = gateway.logLines.filter((line) => line.includes(DRIFT));
  expect(warning).toContain('turn_owner');
});

test('what refers to rows that are deleted is found by an index', async () => {
  const without = await database.query(
    `SELECT c.conrelid::regclass::text AS "table", a.attname AS "column"
     FROM pg_constraint AS c JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
     WHERE c.contype = 'f' AND NOT EXISTS (
       SELECT 1 FROM pg_index AS i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1]
         AND coalesce(pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname), true))`,
  );
  expect(without).toEqual([]);
});

test('the sessions of an agent that has few are found by an index, newest first', async () => {
  await database.query(
    `INSERT INTO sessions (id, channel, user_id, agent, status, metadata, created_at)
     SELECT 'sess_' || n, 'api', 'ada', CASE WHEN n % 1000 = 0 THEN 'rare' ELSE 'default' END, 'idle', '{}',
       now() - make_interval(secs => n) FROM generate_series(1, 20000) AS n`,
  );
  await database.query('ANALYZE sessions');
  const plan = await database.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN SELECT * FROM sessions WHERE agent = 'rare' AND (created_at, id) < ('infinity', '')
     ORDER BY created_at DESC, id DESC LIMIT 51`,
  );
  const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(lines).toContain('sessions_newest_by_agent');
  expect(lines).not.toContain('Sort');
});

test('every migration can be taken back, and run again', async () => {
  const dataSource = await createDataSource({ url: database.directUrl }, limits).initialize();
  try {
    const applied = dataSource.migrations.length;
    for (let taken = 0; taken < applied; taken += 1)
      await dataSource.undoLastMigration({ transaction: 'all' });
    const left = await database.query(
      `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_name <> 'schema_migrations'`,
    );
    expect(left).toEqual([]);
    expect(await dataSource.runMigrations()).toHaveLength(applied);
  } finally {
    await dataSource.destroy();
  }
});

test('several gateways that start at once on an empty database migrate it once', async () => {
  await database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const gateways = await Promise.all([1, 2, 3].map(() => startTestGateway({ database })));
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  const migrated = gateways.filter((gateway) =>
    gateway.logLines.some((line) => line.includes('schema is up to date')),
  );
  expect(migrated).toHaveLength(1);
});

test('a process that is killed between two migrations loses none that ended: the next start goes on', async () => {
  const dataSource = await createDataSource({ url: database.directUrl }, limits).initialize();
  const names = async () =>
    (await database.query<{ name: string }>('SELECT name FROM schema_migrations')).map(({ name }) => name);
  const [first, second] = ['CreateIdentityDenials1795385557000', 'EndTokensWithTheirMakers1795390000000'];
  const blocker = dataSource.createQueryRunner();
  try {
    while ((await names()).includes(first)) await dataSource.undoLastMigration({ transaction: 'all' });
    await blocker.startTransaction();
    await blocker.query('LOCK TABLE api_tokens IN ACCESS EXCLUSIVE MODE');
    const killed = processes.begin(['migrate'], { env: { DATABASE_URL: database.url } });
    await eventually(async () => expect(await names()).toContain(first));
    // The first has ended and locks nothing, while the second still waits.
    await database.query('SELECT 1 FROM hooks');
    killed.kill('SIGKILL');
    await killed.ended;
    await blocker.rollbackTransaction();
    expect([(await names()).includes(first), (await names()).includes(second)]).toEqual([true, false]);
    const gateway = await startTestGateway({ database });
    await gateway.stop();
    expect(gateway.logLines.filter((line) => line.includes(DRIFT))).toEqual([]);
    expect(await names()).toContain(second);
  } finally {
    await blocker.release();
    await dataSource.destroy();
  }
});
