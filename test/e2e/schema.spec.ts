import { createDataSource } from '../../ormconfig.js';
import { OLD_EVENTS, oldEvents } from '../../src/areas/hooks/hook-retention.service.js';
import * as turnDirectory from '../../src/areas/turns/turn-directory.sql.js';
import { IdSource } from '../../src/common/ids/typeid.js';
import { migrate } from '../../src/platform/database/schema.js';
import { filtersGiven } from '../../src/platform/database/statement.js';
import type { LogFields, Logger } from '../../src/platform/logging/logger.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { rowsRead } from '../harness/rows-read.js';

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

test.each(['failed', 'interrupted', 'cancelled'] as const)(
  'turns that are %s are found by an index among those that completed',
  async (status) => {
    await database.query(
      `INSERT INTO sessions (id, channel, user_id, status, metadata) VALUES ('sess_${status}', 'api', 'ada', 'idle', '{}')`,
    );
    await database.query(
      `INSERT INTO turns (id, session_id, user_message_id, status, created_at)
       SELECT '${status}_' || n, 'sess_${status}', 'msg', CASE n WHEN 1 THEN '${status}' ELSE 'completed' END,
         now() - make_interval(secs => 20000 - n) FROM generate_series(1, 20000) AS n`,
    );
    await database.query('ANALYZE turns');
    const read = await rowsRead(database, 'turns', (counting) =>
      counting.query(turnDirectory.LIST(filtersGiven({ status })), {
        ...{ status, afterTime: 'infinity', afterId: '', most: 51 },
        ...{ session: undefined, user: undefined, agent: undefined },
        ...{ since: undefined, bound: undefined, agents: undefined },
      }),
    );
    expect(read).toBe(1);
  },
);

test('events that are too old are found without reading those that are kept, which also stay', async () => {
  const old = (hours: number) => `'${new IdSource(() => Date.now() - hours * 3_600_000).next('evt')}'`;
  await database.query(
    `INSERT INTO events (id, name, occurred_at, data)
     SELECT new_event_id(), 'session.created', now(), '{}'::json FROM generate_series(1, 5000)
     UNION ALL SELECT ${old(100)}, 'session.created', now() - interval '100 hours', '{}'
     UNION ALL SELECT ${old(47)}, 'session.created', now() - interval '47 hours', '{}'`,
  );
  await database.query('ANALYZE events');
  const read = await rowsRead(database, 'events', (counting) =>
    counting.query(OLD_EVENTS, oldEvents(48, 1000)),
  );
  expect(read).toBeLessThan(10);
  expect(await database.query('SELECT 1 FROM events')).toHaveLength(5001);
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
    gateway.logLines.some((line) => line.includes('migrations have run')),
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
    // The first migration has ended and holds no lock, while the second still waits.
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

/** A database whose last migrations were reverted, and an open transaction that reads `sessions`. */
async function heldBack(to: string): Promise<{ names(): Promise<string[]>; release(): Promise<void> }> {
  const dataSource = await createDataSource({ url: database.directUrl }, limits).initialize();
  const names = async () =>
    (await database.query<{ name: string }>('SELECT name FROM schema_migrations')).map(({ name }) => name);
  while ((await names()).includes(to)) await dataSource.undoLastMigration({ transaction: 'all' });
  const reader = dataSource.createQueryRunner();
  await reader.startTransaction();
  await reader.query('SELECT count(*) FROM sessions');
  return {
    names,
    release: async () => {
      await reader.rollbackTransaction();
      await reader.release();
      await dataSource.destroy();
    },
  };
}

const ALTERS_SESSIONS = 'AwaitOutputsOfTools1795402200000';

test('a migration behind a long transaction lets others pass between its tries, says who holds the lock, and runs in the end', async () => {
  const warnings: LogFields[] = [];
  const warn = (_sentence: string, fields: LogFields = {}) => void warnings.push(fields);
  const ran: LogFields[] = [];
  const info = (_sentence: string, fields: LogFields = {}) => void ran.push(fields);
  const logger = { warn, info } as unknown as Logger;
  const { names, release } = await heldBack(ALTERS_SESSIONS);
  const timeouts = { lockMs: 500, pauseMs: 500, mostMs: 600_000 };
  const migrating = migrate({ url: database.directUrl }, logger, timeouts);
  try {
    for (let tries = 1; tries <= 3; tries += 1) {
      await eventually(() => expect(warnings.length).toBeGreaterThanOrEqual(tries));
      // If the waiting lock request were not given up, this would wait for the long transaction.
      await database.query('SELECT count(*) FROM sessions');
    }
    expect(await names()).not.toContain(ALTERS_SESSIONS);
    expect(warnings[0]).toMatchObject({
      migration: ALTERS_SESSIONS,
      statement: expect.stringContaining('ALTER TABLE sessions') as unknown,
    });
    const [waited] = warnings as [{ oldest_transactions: { state: string }[] }];
    expect(waited.oldest_transactions.map(({ state }) => state)).toContain('idle in transaction');
  } finally {
    await release();
  }
  expect(await migrating).toContain(ALTERS_SESSIONS);
  expect(ran).toContainEqual({ ran: 1, newest: ALTERS_SESSIONS });
});

test('a migration whose table never becomes free gives up with a sentence, and nothing is changed', async () => {
  const { names, release } = await heldBack(ALTERS_SESSIONS);
  const before = await names();
  try {
    const timeouts = { lockMs: 50, pauseMs: 50, mostMs: 200 };
    await expect(migrate({ url: database.directUrl }, undefined, timeouts)).rejects.toThrow(
      /AwaitOutputsOfTools1795402200000 could not get its lock .* ALTER TABLE sessions .* End the transactions/,
    );
    expect(await names()).toEqual(before);
  } finally {
    await release();
  }
});

test('every check holds for every row: one that was added without reading the table was validated later', async () => {
  const open = await database.query(
    `SELECT conrelid::regclass::text AS "table", conname FROM pg_constraint WHERE NOT convalidated`,
  );
  expect(open).toEqual([]);
});

test('no migration since 0.1.0 adds a check to a large table and reads it under the same lock', async () => {
  const dataSource = await createDataSource({ url: database.directUrl }, limits).initialize();
  const runner = dataSource.createQueryRunner();
  const { query } = runner;
  const statements: string[] = [];
  runner.query = ((sql: string, ...rest: unknown[]) => {
    statements.push(sql.replaceAll(/\s+/g, ' '));
    return query.apply(runner, [sql, ...rest] as never);
  }) as typeof query;
  try {
    await database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await runner.startTransaction();
    const since = dataSource.migrations.filter(
      (migration) => !/1763700\d+$/.test(migration.constructor.name),
    );
    const earlier = dataSource.migrations.filter((migration) => !since.includes(migration));
    for (const migration of earlier) await migration.up(runner);
    statements.length = 0;
    for (const migration of since) await migration.up(runner);
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
    await dataSource.destroy();
  }
  const adding = statements.filter((sql) => /^ ?ALTER TABLE .*\bCHECK\b/.test(sql));
  expect(adding).not.toEqual([]);
  expect(
    adding.filter(
      (sql) => (sql.match(/\bCHECK \(/g)?.length ?? 0) !== (sql.match(/NOT VALID/g)?.length ?? 0),
    ),
  ).toEqual([]);
});
