import { type DataSource, type Migration, MigrationExecutor } from 'typeorm';
import { sentenceOf } from '../../common/errors/error-text.js';
import { type Logger, silentLogs } from '../logging/logger.js';
import { ADVISORY_LOCKS } from './advisory-locks.js';
import { createDataSource, type DatabaseAddress } from './data-source.js';
import { DEFAULT_LOCK_TIMEOUTS, type LockTimeouts, LockWaits } from './lock-waits.js';
import { migrations } from './migrations.js';

/** Neither migrations nor waiting for another process that runs them have a time limit. */
const MIGRATION_POOL = {
  size: 2,
  connectTimeoutMs: 10_000,
  statementTimeoutMs: 0,
  onIdleError: () => undefined,
};

/**
 * Runs the missing migrations, one process at a time. Each migration is a transaction of its own, so that its locks are
 * released before the next one starts; after a crash the next start continues with the first that is missing. An empty
 * database gets all of them or none. An advisory lock of the transaction keeps other processes out: it works through a
 * transaction pooler, and ends when the process dies.
 *
 * A migration waits only briefly for a table that is in use, and then tries again: while it waits, everyone else who
 * wants the table, even for reading, queues behind it. Throws `MigrationBlocked` after `timeouts.mostMs`.
 * @returns the names of the migrations that ran
 */
export async function migrate(
  address: DatabaseAddress,
  logger: Logger = silentLogs.for('database'),
  timeouts = DEFAULT_LOCK_TIMEOUTS,
): Promise<string[]> {
  const dataSource = await createDataSource(address, MIGRATION_POOL).initialize();
  try {
    return await migrateLocked(dataSource, logger, timeouts);
  } finally {
    await dataSource.destroy();
  }
}

async function migrateLocked(
  dataSource: DataSource,
  logger: Logger,
  timeouts: LockTimeouts,
): Promise<string[]> {
  const ran: string[] = [];
  const waits = new LockWaits(dataSource, logger, timeouts);
  for (let isOver = false; !isOver; ) {
    let working = '';
    try {
      const names = await inLockedTransaction(dataSource, timeouts.lockMs, async (executor, isEmpty) => {
        if (isEmpty) return executor.executePendingMigrations();
        const [next] = await executor.getPendingMigrations();
        working = next?.name ?? '';
        return next === undefined ? [] : [await executor.executeMigration(next)];
      });
      waits.end();
      isOver = names.length === 0;
      ran.push(...names);
      if (!isOver) logger.info('migrations have run', { ran: names.length, newest: names.at(-1) });
    } catch (error) {
      await waits.pause(error, working);
    }
  }
  return ran;
}

async function inLockedTransaction(
  dataSource: DataSource,
  lockMs: number,
  work: (executor: MigrationExecutor, isEmpty: boolean) => Promise<Migration[]>,
): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query(`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.migrations})`);
    await runner.query(`SET LOCAL lock_timeout = ${lockMs}`);
    const [found] = (await runner.query(EXISTS)) as { exists: boolean }[];
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'all';
    const ran = await work(executor, found?.exists !== true);
    await runner.commitTransaction();
    return ran.map(({ name }) => name);
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}

/** Warns when the tables differ from what the code expects. Changes nothing and never rejects. */
export async function warnOfDrift(dataSource: DataSource, logger: Logger): Promise<void> {
  try {
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    if (upQueries.length === 0) return;
    logger.warn('the database schema differs from what this version expects; was it changed by hand?', {
      differences: upQueries.slice(0, 10).map(({ query }) => query),
    });
  } catch (error) {
    logger.debug('the database schema could not be compared', { reason: sentenceOf(error) });
  }
}

/** How the schema of a database compares with this version. */
export interface SchemaState {
  /** Whether a gateway has ever created its schema here. */
  readonly exists: boolean;
  /** The names of the migrations of this version that have not run, in their order. */
  readonly missing: readonly string[];
}

const EXISTS = `SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`;
const APPLIED = 'SELECT name FROM schema_migrations';

/** Finds out which migrations have run; changes nothing. Rejects with the driver's error. */
export async function schemaState(dataSource: DataSource): Promise<SchemaState> {
  const [found]: { exists: boolean }[] = await dataSource.query(EXISTS);
  const rows: { name: string }[] = found?.exists === true ? await dataSource.query(APPLIED) : [];
  const applied = new Set(rows.map(({ name }) => name));
  const missing = migrations.map(({ name }) => name).filter((name) => !applied.has(name));
  return { exists: applied.size > 0, missing };
}
