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
 * The way to PostgreSQL on the hot path: prepared statements on the pool of TypeORM's DataSource. Every failure to reach the
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

  /** What a repository of TypeORM answers, with the failures of a statement. */
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

  /** Open connections, how many of them are idle, and statements that wait for one. */
  get poolUse(): { open: number; idle: number; waiting: number } {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.pool;
    return { open, idle, waiting };
  }

  /** A change of one statement, in a transaction only when something else is to be committed with it. */
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

  /** Commits what `work` did, or nothing of it. */
  async transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    const client = await this.pool.connect().catch((error: unknown) => {
      throw databaseFailure(error);
    });
    // The pool does not listen to a connection that it has lent out: broken between two statements, it would end the
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
   * A connection beside the pool, for what lasts as long as a session does; undefined behind a pooler, where sessions
   * are shared. The caller ends it. Throws the driver's error.
   */
  async session(): Promise<Client | undefined> {
    if (!this.named) return undefined;
    const client = new Client(this.pool.options);
    // The caller hears of it too, and whatever it asks next fails.
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

  /** Behind a pooler without its name: the next transaction may reach a server process that has never seen it. */
  private prepared(statement: AnyStatement, params: object | undefined): QueryConfig<unknown[]> {
    const { name, text, timeoutMs, replanned = false } = statement;
    const values = valuesGiven(statement, params);
    return new PreparedQuery(text, values, this.named && !replanned ? name : undefined, timeoutMs);
  }
}

/**
 * A statement in the driver's own form, which it takes as it is. A plain description of one it would copy first,
 * property descriptor by property descriptor, at the cost of everything else that is done here for a statement.
 */
class PreparedQuery extends Query implements QueryConfig<unknown[]> {
  declare readonly text: string;

  constructor(
    text: string,
    values: readonly SqlValue[],
    readonly name: string | undefined,
    /** In milliseconds, by the driver's name. */
    readonly query_timeout: number | undefined,
  ) {
    super(text, values);
  }
}

/** A client hands a query of the driver's own form back, so its answer has to be asked for. */
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
