import { Injectable } from '@nestjs/common';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import { databaseFailure } from './database-failure.js';
import type { SqlRunner, SqlValue, Statement } from './sql.js';

/**
 * The hot-path door to PostgreSQL: prepared statements on the DataSource's own pool.
 * Every failure to reach the server is thrown as `Unavailable` (503), never as a driver error.
 */
@Injectable()
export class Database implements SqlRunner {
  private readonly pool: Pool;

  constructor(readonly dataSource: DataSource) {
    this.pool = poolOf(dataSource);
  }

  async query<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly SqlValue[] = [],
  ): Promise<Row[]> {
    try {
      return (await this.pool.query<Row>(prepared(statement, values))).rows;
    } catch (error) {
      throw databaseFailure(error);
    }
  }

  /** Commits what `work` did, or nothing of it. */
  async transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    const client = await this.pool.connect().catch((error: unknown) => {
      throw databaseFailure(error);
    });
    let broken: Error | undefined;
    try {
      return await inTransaction(client, work);
    } catch (error) {
      if (!(await rollBack(client))) broken = new Error('connection could not roll back');
      throw databaseFailure(error);
    } finally {
      client.release(broken);
    }
  }
}

async function inTransaction<Result>(
  client: PoolClient,
  work: (runner: SqlRunner) => Promise<Result>,
): Promise<Result> {
  await client.query('BEGIN');
  const result = await work({
    query: async <Row extends QueryResultRow>(statement: Statement, values: readonly SqlValue[] = []) =>
      (await client.query<Row>(prepared(statement, values))).rows,
  });
  await client.query('COMMIT');
  return result;
}

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

function prepared(statement: Statement, values: readonly SqlValue[]) {
  return { name: statement.name, text: statement.text, values: values as unknown[] };
}

/** TypeORM keeps its `pg` pool in the driver; using it means one pool, one limit, one place that closes it. */
function poolOf(dataSource: DataSource): Pool {
  const { master } = dataSource.driver as unknown as { master: Pool };
  return master;
}
