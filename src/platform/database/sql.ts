import type { ParamsOf, RowOf, SqlShape } from './sql-types.js';

/**
 * A prepared statement with named parameters, made by `statement`. Its parameters and columns are declared beside its
 * text, and a test compares them with what PostgreSQL says. Each connection parses it once, then only executes it.
 */
export interface TypedStatement<Params extends SqlShape, Row extends SqlShape> {
  /** Unique in the program; changes when the text does. */
  readonly name: string;
  readonly params: Params;
  readonly row: Row;
  readonly text: string;
  /**
   * Planned at each use, for the tables as they are then. A plan that was made while a table was empty would read the
   * whole table for each row of a join, until PostgreSQL analyses it, a minute later at best.
   */
  readonly replanned?: boolean;
  /** Runs before a request changes anything: when its connection is lost, it is certain that nothing was changed. */
  readonly comesFirst?: true;
  /** The longest wait for the answer of a connection, in milliseconds; the pool's limit unless given. */
  readonly timeoutMs?: number;
  /** The parameters in the order of `$1`, `$2`, … */
  readonly order: readonly string[];
}

/** A statement with any parameters and columns. */
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

/** Work that is committed together with a change, and is given its result. When it throws, neither is kept. */
export type OnCommit<Result> = (runner: SqlRunner, result: Result) => Promise<void>;

/** Runs statements: on the pool, or within one transaction. */
export interface SqlRunner {
  query<Params extends SqlShape, Row extends SqlShape>(
    statement: TypedStatement<Params, Row>,
    ...params: keyof Params extends never ? [] : [ParamsOf<Params>]
  ): Promise<RowOf<Row>[]>;
}
