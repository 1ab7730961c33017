import type { Pool, QueryResultRow } from 'pg';
import { Database } from '../../src/platform/database/database.js';
import type { SqlRunner, SqlValue, Statement, TypedStatement } from '../../src/platform/database/sql.js';
import type { ParamsOf, RowOf, SqlShape } from '../../src/platform/database/sql-types.js';
import { type Given, valuesGiven } from '../../src/platform/database/statement.js';

export interface Step {
  readonly statement: Statement;
  readonly values: readonly SqlValue[];
}

/** The product's door to PostgreSQL, over a pool of ours, noting what goes through. */
export class RecordingDatabase extends Database {
  private steps: Step[] = [];

  constructor(pool: Pool) {
    super({ pool, namesStatements: true });
  }

  override query<Params extends SqlShape, Row extends SqlShape>(
    statement: TypedStatement<Params, Row>,
    ...params: keyof Params extends never ? [] : [ParamsOf<Params>]
  ): Promise<RowOf<Row>[]>;
  override query<Row extends QueryResultRow>(
    statement: Statement,
    values?: readonly SqlValue[],
  ): Promise<Row[]>;
  override query(statement: Statement, given?: Given): Promise<unknown[]> {
    const values = valuesGiven(statement, given);
    this.steps.push({ statement, values });
    return super.query(statement, values);
  }

  override transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    this.note('BEGIN');
    return super.transaction(async (runner) => {
      const result = await work({
        query: (statement: Statement, given?: Given) => {
          const values = valuesGiven(statement, given);
          this.steps.push({ statement, values });
          return runner.query(statement, values);
        },
      });
      this.note('COMMIT');
      return result;
    });
  }

  /** What went through since the last call. */
  take(): readonly Step[] {
    const taken = this.steps;
    this.steps = [];
    return taken;
  }

  private note(text: 'BEGIN' | 'COMMIT'): void {
    this.steps.push({ statement: { name: '', text }, values: [] });
  }
}
