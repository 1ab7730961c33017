/**
 * A type of PostgreSQL: its name there, and what the driver takes and gives for it. A statement declares its parameters
 * and columns with these; a test compares them with what PostgreSQL says (`test/architecture/statements.spec.ts`).
 */
export interface SqlType<In, Out> {
  /** As PostgreSQL's `format_type` writes it. */
  readonly name: string;
  /** Only for the compiler: there is no value of it. */
  readonly values?: { readonly in: In; readonly out: Out };
}

/** Parameters or columns by their names. */
export type SqlShape = Readonly<Record<string, SqlType<unknown, unknown>>>;

/** What a caller gives for the parameters of a shape. */
export type ParamsOf<Shape extends SqlShape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends SqlType<infer In, unknown> ? In : never;
};

/** What the driver gives for a row with the columns of a shape. */
export type RowOf<Shape extends SqlShape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends SqlType<infer _In, infer Out> ? Out : never;
};

const type = <In, Out = In>(name: string): SqlType<In, Out> => ({ name });

export const text = type<string>('text');
export const integer = type<number>('integer');
export const smallint = type<number>('smallint');
/** 64 bits: the driver gives text, since a number cannot hold them all. */
export const bigint = type<number | bigint | string, string>('bigint');
export const double = type<number>('double precision');
/** Exact decimals: the driver gives text. */
export const numeric = type<number | string, string>('numeric');
export const boolean = type<boolean>('boolean');
export const timestamp = type<Date | string, Date>('timestamp with time zone');
/** A day without a time; the driver gives local midnight. */
export const date = type<Date | string, Date>('date');
export const bytes = type<Buffer>('bytea');
/** The place of a row in its table, such as `(0,1)`. */
export const tid = type<string>('tid');

/** Text of which only some values occur. */
export const oneOf = <Value extends string>(): SqlType<Value, Value> => type<Value>('text');
/** A parameter is JSON text; a column comes parsed. */
export const json = <Value>(): SqlType<string, Value> => type<string, Value>('json');
/** A parameter is JSON text; a column comes parsed. */
export const jsonb = <Value>(): SqlType<string, Value> => type<string, Value>('jsonb');

/** May be null. PostgreSQL does not tell which columns are, so nothing compares this. */
export const nullable = <In, Out>({ name }: SqlType<In, Out>): SqlType<In | null, Out | null> => ({ name });
/** A parameter of a filter that may be left out (`statementsBy`). */
export const optional = <In, Out>({ name }: SqlType<In, Out>): SqlType<In | undefined, Out> => ({ name });

type OrNull<Shape extends SqlShape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends SqlType<infer In, infer Out>
    ? SqlType<In | null, Out | null>
    : never;
};
/** The columns of an outer join: all are null where it found no row. */
export const orNull = <Shape extends SqlShape>(shape: Shape): OrNull<Shape> =>
  shape as unknown as OrNull<Shape>;

export const arrayOf = <In, Out>({ name }: SqlType<In, Out>): SqlType<readonly In[], Out[]> => ({
  name: `${name}[]`,
});
