import type { AnyStatement, SqlValue, TypedStatement } from './sql.js';
import type { RowOf, SqlShape } from './sql-types.js';

/** A row that the statement returns. */
export type RowOfStatement<Of> = Of extends TypedStatement<infer _Params, infer Row> ? RowOf<Row> : never;

interface Definition<Params extends SqlShape, Row extends SqlShape>
  extends Omit<TypedStatement<Params, Row>, 'text' | 'order'> {
  /** Unique in the program: `<area>.<verb>`. */
  readonly name: string;
  readonly params: Params;
  /**
   * The columns that it returns, by their names in SQL; `{}` when it returns none. A column of type void is not named.
   */
  readonly row: Row;
  /** Parameters are written `:name`, with a cast where PostgreSQL cannot tell the type: `:name::text`. */
  readonly sql: string;
}

const made = new Map<string, AnyStatement>();
const families: (() => void)[] = [];

/**
 * Declares a statement, once for the program, when its file is loaded. Throws when another text has the name, and when
 * the text and the declaration do not name the same parameters.
 */
export function statement<const Params extends SqlShape, const Row extends SqlShape>(
  definition: Definition<Params, Row>,
): TypedStatement<Params, Row> {
  return registered(composed(definition));
}

/** A statement that is composed while the program runs, of parts whose types are known. It is not registered. */
export function composed<const Params extends SqlShape, const Row extends SqlShape>(
  definition: Definition<Params, Row>,
): TypedStatement<Params, Row> {
  const compiled = compile(definition);
  for (const name of Object.keys(definition.params)) {
    if (!compiled.order.includes(name)) throw new Error(`${definition.name} has no parameter :${name}`);
  }
  return compiled;
}

/**
 * Statements that differ in which filters a caller passes. Each is made at its first use, and kept. `build` declares
 * the parameters of all filters as `optional`; those that its text does not name are left out.
 */
export function statementsBy<
  Filter extends string,
  const Params extends SqlShape,
  const Row extends SqlShape,
>(
  filters: readonly Filter[],
  build: (given: ReadonlySet<Filter>) => Definition<Params, Row>,
): (given: Iterable<Filter>) => TypedStatement<Params, Row> {
  const kept = new Map<string, TypedStatement<Params, Row>>();
  const find = (given: Iterable<Filter>) => {
    const asked = new Set(given);
    // Sorted, because a statement has one name whatever the order of the filters.
    const wanted = new Set(filters.filter((filter) => asked.has(filter)));
    const key = [...wanted].join(' ');
    const found = kept.get(key) ?? registered(compile(build(wanted)));
    kept.set(key, found);
    return found;
  };
  families.push(() => {
    for (let bits = 0; bits < 2 ** filters.length; bits++) find(filters.filter((_, at) => bits & (1 << at)));
  });
  return find;
}

/** The names of the filters that have a value. */
export function filtersGiven<Filter extends string>(values: Readonly<Record<Filter, unknown>>): Filter[] {
  return (Object.keys(values) as Filter[]).filter((name) => values[name] !== undefined);
}

/** Every statement of the loaded files; those with filters in every combination. */
export function allStatements(): readonly AnyStatement[] {
  for (const makeAll of families) makeAll();
  return [...made.values()];
}

/** The values of `$1`, `$2`, … */
export function valuesGiven({ order }: AnyStatement, given: object = {}): SqlValue[] {
  const params = given as Readonly<Record<string, SqlValue>>;
  return order.map((name) => params[name] as SqlValue);
}

function compile<Params extends SqlShape, Row extends SqlShape>({
  sql,
  ...definition
}: Definition<Params, Row>): TypedStatement<Params, Row> {
  const order: string[] = [];
  const text = sql.replaceAll(TOKENS, (token, name: string | undefined) => {
    if (name === undefined) return token;
    if (!Object.hasOwn(definition.params, name)) {
      throw new Error(`${definition.name} does not declare its parameter :${name}`);
    }
    if (!order.includes(name)) order.push(name);
    return `$${order.indexOf(name) + 1}`;
  });
  return { ...definition, text, order };
}

function registered<Params extends SqlShape, Row extends SqlShape>(
  declared: TypedStatement<Params, Row>,
): TypedStatement<Params, Row> {
  const { name, text } = declared;
  if ((made.get(name)?.text ?? text) !== text) throw new Error(`two statements are called ${name}`);
  made.set(name, declared);
  return declared;
}

/** Text in which a colon does not begin a parameter, or else a parameter. */
const TOKENS = /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|::|:([a-z]\w*)/gi;
