import { Injectable } from '@nestjs/common';
import {
  Client,
  type Pool,
  type PoolClient,
  Query,
  type QueryConfig,
  type QueryResult,
  type QueryResultRow,
} from 'pg';
import { isDirect, type PooledDataSource } from './data-source.js';
import { databaseFailure, failureBeforeCommit } from './database-failure.js';
import type { AnyStatement, OnCommit, SqlRunner, SqlValue, TypedStatement } from './sql.js';
import type { ParamsOf, RowOf, SqlShape } from './sql-types.js';
import { valuesGiven } from './statement.js';

/**
 * Prepared statements on the pool of TypeORM's DataSource: the hot path to PostgreSQL. Every failure to reach the
 * server is thrown as `Unavailable` (503), never as a driver error.
 */
@Injectable()
export class Database implements SqlRunner {
  private readonly pool: Pool;
  private readonly named: boolean;
  private readonly failureListeners: ((error: unknown) => void)[] = [];

  constructor({ pool, namesStatements }: Pick<PooledDataSource, 'pool' | 'namesStatements'>) {
    this.pool = pool;
    this.named = namesStatements;
  }

  query<Params extends SqlShape, Row extends SqlShape>(
    statement: TypedStatement<Params, Row>,
    ...params: keyof Params extends never ? [] : [ParamsOf<Params>]
  ): Promise<RowOf<Row>[]>;
  async query(statement: AnyStatement, params?: object): Promise<unknown[]> {
    try {
      return (await this.pool.query<QueryResultRow>(this.prepared(statement, params))).rows;
    } catch (error) {
      this.notifyFailure(error);
      throw statement.comesFirst ? failureBeforeCommit(error) : databaseFailure(error);
    }
  }

  /** Awaits a repository of TypeORM, and throws what a failed statement would throw. */
  async answered<Result>(answer: Promise<Result>): Promise<Result> {
    try {
      return await answer;
    } catch (error) {
      this.notifyFailure(error);
      throw databaseFailure(error);
    }
  }

  /** Calls `listener` with the driver's error of every statement or transaction that fails. It must not throw. */
  onFailure(listener: (error: unknown) => void): void {
    this.failureListeners.push(listener);
  }

  /** How many connections are open, how many of them are idle, and how many statements wait for one. */
  get poolUse(): { open: number; idle: number; waiting: number } {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.pool;
    return { open, idle, waiting };
  }

  /** Runs a change of one statement. It needs a transaction only when something else is committed with it. */
  change<Result>(
    work: (runner: SqlRunner) => Promise<Result>,
    onCommit: OnCommit<Result> | undefined,
  ): Promise<Result> {
    if (onCommit === undefined) return work(this);
    return this.transaction(async (runner) => {
      const result = await work(runner);
      await onCommit(runner, result);
      return result;
    });
  }

  /** Commits everything that `work` did, or nothing. */
  async transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    const client = await this.pool.connect().catch((error: unknown) => {
      throw databaseFailure(error);
    });
    // The pool does not listen to a connection that is checked out: breaking between two statements, it would end the
    // process.
    client.on('error', reportedByNextStatement);
    let broken: Error | undefined;
    let committing = false;
    try {
      await client.query('BEGIN');
      const result = await work(this.runnerOn(client));
      committing = true;
      await client.query('COMMIT');
      return result;
    } catch (error) {
      this.notifyFailure(error);
      if (!(await rollBack(client))) broken = new Error('connection could not roll back');
      throw committing ? databaseFailure(error) : failureBeforeCommit(error);
    } finally {
      client.release(broken);
      client.off('error', reportedByNextStatement);
    }
  }

  /**
   * A connection outside the pool, for what belongs to a session, such as a lock; undefined behind a pooler, which
   * shares sessions. The caller ends it. Throws the driver's error.
   */
  async session(): Promise<Client | undefined> {
    if (!this.named) return undefined;
    const client = new Client(this.pool.options);
    // The caller gets the error too, and its next query fails.
    client.on('error', () => undefined);
    try {
      await client.connect();
      if (await isDirect(client)) return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    await client.end().catch(() => undefined);
    return undefined;
  }

  private notifyFailure(error: unknown): void {
    for (const listener of this.failureListeners) listener(error);
  }

  private runnerOn(client: PoolClient): SqlRunner {
    return {
      query: async <Params extends SqlShape, Row extends SqlShape>(
        statement: TypedStatement<Params, Row>,
        ...[params]: keyof Params extends never ? [] : [ParamsOf<Params>]
      ) => (await answerOf(client, this.prepared(statement, params))).rows as RowOf<Row>[],
    };
  }

  /** Unnamed behind a pooler: the next transaction may reach a server process that has never seen the name. */
  private prepared(statement: AnyStatement, params: object | undefined): QueryConfig<unknown[]> {
    const { name, text, timeoutMs, replanned = false } = statement;
    const values = valuesGiven(statement, params);
    return new PreparedQuery(text, values, this.named && !replanned ? name : undefined, timeoutMs);
  }
}

/**
 * A statement as an object of the driver, which uses it directly. A plain configuration object would be copied property
 * by property first, which costs more than all our own work for a statement.
 */
class PreparedQuery extends Query implements QueryConfig<unknown[]> {
  declare readonly text: string;

  constructor(
    text: string,
    values: readonly SqlValue[],
    readonly name: string | undefined,
    /** In milliseconds; the driver prescribes the name. */
    readonly query_timeout: number | undefined,
  ) {
    super(text, values);
  }
}

/** A client that is given a `Query` returns it instead of a promise, so the result comes by callback. */
function answerOf(client: PoolClient, query: QueryConfig<unknown[]>): Promise<QueryResult<QueryResultRow>> {
  return new Promise((resolve, reject) => {
    client.query(query, (error: Error | null, result) => {
      if (error) reject(error);
      else resolve(result);
    });
  });
}

function reportedByNextStatement(): void {
  // A broken connection answers every statement with its failure.
}

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}
