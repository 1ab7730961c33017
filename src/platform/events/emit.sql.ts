import type { EmittedName, EventPayloads } from './event-catalogue.js';

/** One SQL expression for each field of the payload; a field whose value is null is left out. */
type FieldExpressions<Name extends EmittedName> = {
  readonly [Field in keyof EventPayloads[Name]]: string;
};

/**
 * The call of `emit_event` as an SQL expression, as part of the statement that makes the change. PostgreSQL runs a CTE
 * that only selects only when something refers to it.
 * @param user whose session it is: an SQL expression
 */
export function emitSql<Name extends EmittedName>(
  name: Name,
  user: string,
  data: FieldExpressions<Name>,
): string {
  const fields = Object.entries<string>(data).map(([field, value]) => `'${field}', ${value}`);
  return `emit_event('${name}', ${user}, json_strip_nulls(json_build_object(${fields.join(', ')})))`;
}
