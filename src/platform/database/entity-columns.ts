import { getMetadataArgsStorage } from 'typeorm';
import type { SqlType } from './sql-types.js';

/** The property `userId` is the column `user_id`. */
type ColumnName<Property extends string> = Property extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnName<Rest>}`
  : '';

/**
 * Columns of an entity, for the row of a statement: `columnsOf(HookEntity, 'id', 'userId')` stands for `id, user_id`.
 * Their types are declared in the entity alone, where the drift check compares them with the schema. Throws for a
 * property that is not a column, that names its column differently, or whose type the driver returns differently from
 * the entity.
 */
export function columnsOf<Entity extends object, const Property extends keyof Entity & string>(
  entity: new () => Entity,
  ...properties: readonly Property[]
): { readonly [One in Property as ColumnName<One>]: SqlType<Entity[One], Entity[One]> } {
  const shape = Object.fromEntries(properties.map((property) => columnOf(entity, property)));
  return shape as { readonly [One in Property as ColumnName<One>]: SqlType<Entity[One], Entity[One]> };
}

/** The entity, and the classes from which it inherits columns. */
function withBases(entity: EntityClass): EntityClass[] {
  const base = Object.getPrototypeOf(entity) as EntityClass;
  return base === Function.prototype ? [entity] : [entity, ...withBases(base)];
}
type EntityClass = abstract new () => object;

/** Names that entities use, and what PostgreSQL's `format_type` calls them. */
const LONG_NAMES: Readonly<Record<string, string>> = { timestamptz: 'timestamp with time zone' };
/** The driver returns a Date, TypeORM a text. */
const AMBIGUOUS = 'date';

function columnOf(entity: new () => object, property: string): [string, SqlType<unknown, unknown>] {
  const columns = getMetadataArgsStorage().filterColumns(withBases(entity));
  const options = columns.find(({ propertyName }) => propertyName === property)?.options;
  const name = property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (options === undefined || (options.name ?? property) !== name || typeof options.type !== 'string')
    throw new Error(`${entity.name}.${property} is not the column ${name}`);
  if (options.type === AMBIGUOUS)
    throw new Error(`${entity.name}.${property} is a date: declare it yourself`);
  const type = LONG_NAMES[options.type] ?? options.type;
  return [name, { name: options.array === true ? `${type}[]` : type }];
}
