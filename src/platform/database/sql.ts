import type { ParamsOf, RowOf, SqlShape } from './sql-types.js';

/**
 * A prepared statement with named parameters, made by `statement`: what it takes and gives is declared beside its text,
 * and a test compares that with what PostgreSQL says. It is parsed once per connection, then only executed.
 */
export interface TypedStatement<Params extends SqlShape, Row extends SqlShape> {
  /** Unique over the program; changes when the text does. */
  readonly name: string;
  readonly params: Params;
  readonly row: Row;
  readonly text: string;
  /**
   * Planned at each use, for the tables as they are then. A plan that is kept from when a table was empty reads all of it
   * for each row of a join, until PostgreSQL analyses the table, a minute later at best.
   */
  readonly replanned?: boolean;
  /** Runs before anything that a request changes: when its connection is lost, nothing is in doubt. */
  readonly comesFirst?: true;
  /** Longest wait for the answer of a connection, in milliseconds; the pool's limit unless given. */
  readonly timeoutMs?: number;
  /** The parameters in the order of `$1`, `$2`, … */
  readonly order: readonly string[];
}

/** Whatever it takes and gives. */
export type AnyStatement = TypedStatement<SqlShape, SqlShape>;

export type SqlValue =
  | string
  | number
  | boolean
  | bigint
  | Date
  | Buffer
  | null
  | readonly (string | number | Date | Buffer | null)[];

/** Work that is committed together with a change, given its result. When it throws, neither is kept. */
export type OnCommit<Result> = (runner: SqlRunner, result: Result) => Promise<void>;

/** Runs statements: the pool itself, or one transaction. */
export interface SqlRunner {
  query<Params extends SqlShape, Row extends SqlShape>(
    statement: TypedStatement<Params, Row>,
    ...params: keyof Params extends never ? [] : [ParamsOf<Params>]
  ): Promise<RowOf<Row>[]>;
}
