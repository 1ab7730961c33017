import type { Pool, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import type { SqlRunner, SqlValue, Statement } from '../../src/platform/database/sql.js';

export interface Step {
  readonly statement: Statement;
  readonly values: readonly SqlValue[];
}

/** The product's door to PostgreSQL, over a pool of ours, noting what goes through. */
export class RecordingDatabase extends Database {
  private steps: Step[] = [];

  constructor(pool: Pool) {
    super({ driver: { master: pool }, options: {} } as unknown as DataSource);
  }

  override query<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly SqlValue[] = [],
  ): Promise<Row[]> {
    this.steps.push({ statement, values });
    return super.query<Row>(statement, values);
  }

  override transaction<Result>(work: (runner: SqlRunner) => Promise<Result>): Promise<Result> {
    this.note('BEGIN');
    return super.transaction(async (runner) => {
      const result = await work({
        query: (statement, values = []) => {
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
