import { createDataSource } from '../../ormconfig.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { startTestGateway } from '../harness/gateway.js';

const DRIFT = 'the database schema differs';
const limits = { size: 2, connectTimeoutMs: 5000, statementTimeoutMs: 0, onIdleError: () => undefined };

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

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
