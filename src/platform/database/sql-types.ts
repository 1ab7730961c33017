/**
 * A type of PostgreSQL: its name, what the driver takes for it and what it returns. A statement declares its parameters
 * and columns with these; a test compares them with what PostgreSQL says (`test/architecture/statements.spec.ts`).
 */
export interface SqlType<In, Out> {
  /** As PostgreSQL's `format_type` writes it. */
  readonly name: string;
  /** For the compiler only: it has no value at run time. */
  readonly values?: { readonly in: In; readonly out: Out };
}

/** Parameters or columns by their names. */
export type SqlShape = Readonly<Record<string, SqlType<unknown, unknown>>>;

/** What a caller passes for the parameters of a shape. */
export type ParamsOf<Shape extends SqlShape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends SqlType<infer In, unknown> ? In : never;
};

/** What the driver returns for a row with the columns of a shape. */
export type RowOf<Shape extends SqlShape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends SqlType<infer _In, infer Out> ? Out : never;
};

const type = <In, Out = In>(name: string): SqlType<In, Out> => ({ name });

export const text = type<string>('text');
export const integer = type<number>('integer');
export const smallint = type<number>('smallint');
/** 64 bits: the driver returns text, since a number cannot hold all values. */
export const bigint = type<number | bigint | string, string>('bigint');
export const double = type<number>('double precision');
/** Exact decimals: the driver returns text. */
export const numeric = type<number | string, string>('numeric');
export const boolean = type<boolean>('boolean');
export const timestamp = type<Date | string, Date>('timestamp with time zone');
/** A day without a time: the driver returns local midnight. */
export const date = type<Date | string, Date>('date');
export const bytes = type<Buffer>('bytea');

/** Text that is one of a few values. */
export const oneOf = <Value extends string>(): SqlType<Value, Value> => type<Value>('text');
/** A parameter is JSON text; a column is returned parsed. */
export const json = <Value>(): SqlType<string, Value> => type<string, Value>('json');
/** A parameter is JSON text; a column is returned parsed. */
export const jsonb = <Value>(): SqlType<string, Value> => type<string, Value>('jsonb');

/** May be null. PostgreSQL does not say which columns may be, so no test can compare this. */
export const nullable = <In, Out>({ name }: SqlType<In, Out>): SqlType<In | null, Out | null> => ({ name });
/** A parameter of a filter that callers may leave out (`statementsBy`). */
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
