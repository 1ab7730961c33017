import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { type IdPrefix, isId, newId } from '../../src/common/ids/typeid.js';
import type { SqlValue } from '../../src/platform/database/sql.js';
import type { Step } from './recording-database.js';

/** Recorded values, and what replaces each of them in this run. */
export type Fill = ReadonlyMap<SqlValue, SqlValue>;

const MINTED: readonly IdPrefix[] = ['sess', 'msg', 'turn', 'evt', 'dlv'];

/** Repeats recorded statements with other values. Ids that are not given are new ones. */
export class Replay {
  private readonly inTransaction: boolean;

  constructor(
    private readonly pool: Pool,
    private readonly steps: readonly Step[],
  ) {
    if (steps.length === 0) throw new Error('Nothing was recorded: the product does no SQL here any more.');
    this.inTransaction = steps.some(({ statement }) => statement.text === 'BEGIN');
  }

  /** @returns the rows of every step, without `BEGIN` and `COMMIT` */
  async run(fill: Fill): Promise<QueryResultRow[][]> {
    const ids = new Map(fill);
    if (!this.inTransaction) return this.runOn(this.pool, ids);
    const client = await this.pool.connect();
    try {
      return await this.runOn(client, ids);
    } finally {
      client.release();
    }
  }

  private async runOn(runner: Pool | PoolClient, ids: Map<SqlValue, SqlValue>): Promise<QueryResultRow[][]> {
    const results: QueryResultRow[][] = [];
    for (const { statement, values } of this.steps) {
      const { name, text } = statement;
      const filledIn = values.map((value) => filled(value, ids));
      const { rows } = await runner.query<QueryResultRow>(
        name === '' ? text : { name, text, values: filledIn },
      );
      if (name !== '') results.push(rows);
    }
    return results;
  }
}

function filled(value: SqlValue, ids: Map<SqlValue, SqlValue>): SqlValue {
  const known = ids.get(value);
  if (known !== undefined) return known;
  const prefix = typeof value === 'string' ? MINTED.find((one) => isId(one, value)) : undefined;
  if (prefix === undefined) return value;
  const id = newId(prefix);
  ids.set(value, id);
  return id;
}
