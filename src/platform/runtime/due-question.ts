import type { SqlShape, SqlType } from '../database/sql-types.js';
import { statement } from '../database/statement.js';

/** A cheap question to the database: is there work to do? `DueWork` asks it. */
export interface DueQuestion<Params extends SqlShape, Answer> {
  /** Unique: the name of the answer's column. */
  readonly name: string;
  /** Their names are unique among all questions, because one statement asks all of them. */
  readonly params: Params;
  readonly answer: SqlType<unknown, Answer>;
  /** An SQL expression over indexes, such as `EXISTS (…)`, with its parameters as `:name`. It locks nothing. */
  readonly sql: string;
}

/**
 * Declares a question, once for the program. It is also a statement of its own, so that PostgreSQL checks its types
 * like all others.
 */
export function dueQuestion<const Params extends SqlShape, Answer>(
  question: DueQuestion<Params, Answer>,
): DueQuestion<Params, Answer> {
  const { name, params, answer, sql } = question;
  statement({ name: `due_work.${name}`, params, row: { [name]: answer }, sql: `SELECT ${sql} AS ${name}` });
  return question;
}
