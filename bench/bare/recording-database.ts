import type { Pool } from 'pg';
import { Database } from '../../src/platform/database/database.js';
import type { AnyStatement, SqlRunner, SqlValue, TypedStatement } from '../../src/platform/database/sql.js';
import type { ParamsOf, RowOf, SqlShape } from '../../src/platform/database/sql-types.js';
import { valuesGiven } from '../../src/platform/database/statement.js';

export interface Step {
  readonly statement: Pick<AnyStatement, 'name' | 'text'>;
  readonly values: readonly SqlValue[];
}

/** The product's `Database` over a pool of the benchmark's. It records every statement. */
export class RecordingDatabase extends Database {
  private steps: Step[] = [];

  constructor(pool: Pool) {
    super({ pool, namesStatements: true });
  }

  override query<Params extends SqlShape, Row extends SqlShape>(
    statement: TypedStatement<Params, Row>,
    ...params: keyof Params extends never ? [] : [ParamsOf<Params>]
  ): Promise<RowOf<Row>[]>;
  override query(statement: AnyStatement, params: object = {}): Promise<unknown[]> {
    this.steps.push({ statement, values: valuesGiven(statement, params) });
    return super.query(statement, { ...params });
  }

  override transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    this.note('BEGIN');
    return super.transaction(async (runner) => {
      const result = await work({
        query: (statement, ...params) => {
          this.steps.push({ statement, values: valuesGiven(statement, params[0]) });
          return runner.query(statement, ...params);
        },
      });
      this.note('COMMIT');
      return result;
    });
  }

  /** The statements since the last call. */
  take(): readonly Step[] {
    const taken = this.steps;
    this.steps = [];
    return taken;
  }

  private note(text: 'BEGIN' | 'COMMIT'): void {
    this.steps.push({ statement: { name: '', text }, values: [] });
  }
}
