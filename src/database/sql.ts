import type { QueryResultRow } from 'pg';

/**
 * A named prepared statement: parsed once per connection, then only executed.
 * The name is unique over the program and changes when the text does.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type SqlValue =
  | string
  | number
  | boolean
  | bigint
  | Date
  | Buffer
  | null
  | readonly (string | number | Date | null)[];

/** Runs statements: the pool itself, or one transaction. */
export interface SqlRunner {
  query<Row extends QueryResultRow>(statement: Statement, values?: readonly SqlValue[]): Promise<Row[]>;
}
