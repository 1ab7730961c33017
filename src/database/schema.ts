import type { DataSource } from 'typeorm';
import { createDataSource } from '../../ormconfig.js';
import type { Logger } from '../logs/logger.js';
import type { DatabaseAddress } from './data-source-options.js';

/** One number for all gateways on a database; the transaction that holds it may change the schema. */
const MIGRATION_LOCK = 7_193_016_830;

/** A migration may take long, and so may the wait for another process that runs it. */
const PATIENT = { size: 2, connectTimeoutMs: 10_000, statementTimeoutMs: 0, onIdleError: () => undefined };

/**
 * Runs what is missing, one process at a time. The lock lives in a transaction, so it also holds through a
 * transaction pooler and goes away with a process that dies.
 * @returns the names of the migrations that ran
 */
export async function migrate(address: DatabaseAddress): Promise<string[]> {
  const dataSource = await createDataSource(address, PATIENT).initialize();
  try {
    return await migrateLocked(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

async function migrateLocked(dataSource: DataSource): Promise<string[]> {
  const holder = dataSource.createQueryRunner();
  await holder.startTransaction();
  try {
    await holder.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const ran = await dataSource.runMigrations();
    return ran.map((migration) => migration.name);
  } finally {
    await holder.commitTransaction().finally(() => holder.release());
  }
}

/** Warns when the tables are not what the code believes; it changes nothing and never stops a start. */
export async function warnOfDrift(dataSource: DataSource, logger: Logger): Promise<void> {
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  if (upQueries.length === 0) return;
  logger.warn('the database schema differs from what this version expects; was it changed by hand?', {
    differences: upQueries.slice(0, 10).map(({ query }) => query),
  });
}
