import { ARRAY_MAX_SIZE, getMetadataStorage } from 'class-validator';
import { type ItemClass, itemClassOf } from './list-of.decorator.js';

type RequestClass = new () => object;

/** What one field of a request class may hold. */
interface Field {
  /** For a list: the items it may have. One more is looked at, which is enough to refuse the list. */
  readonly maxItems: number | undefined;
  readonly itemClass: ItemClass | undefined;
}

const known = new WeakMap<RequestClass, ReadonlyMap<string, Field>>();

/** How many unknown fields an error names. */
const MAX_UNKNOWN_FIELDS = 20;

/** A body as an instance of its request class, and the paths of fields that are not the class's. */
export interface ShapedBody {
  readonly instance: object;
  readonly unknownFields: readonly string[];
}

/**
 * Creates the instance that is validated. Copies only fields of the class, and of lists only as many items as decide about
 * them: nothing else in a body is walked, so refusing it costs no more than naming its fields.
 */
export function shapeBody(requestClass: RequestClass, body: unknown): ShapedBody {
  const unknownFields: string[] = [];
  return { instance: shape(requestClass, isPlainObject(body) ? body : {}, '', unknownFields), unknownFields };
}

function shape(
  requestClass: RequestClass,
  body: Record<string, unknown>,
  parent: string,
  unknownFields: string[],
): object {
  const fields = fieldsOf(requestClass);
  const instance = new requestClass() as Record<string, unknown>;
  for (const key of Object.keys(body)) {
    const field = fields.get(key);
    if (field !== undefined) instance[key] = shapeValue(field, body[key], `${parent}${key}`, unknownFields);
    else if (unknownFields.length < MAX_UNKNOWN_FIELDS) unknownFields.push(parent + key);
  }
  return instance;
}

function shapeValue({ maxItems, itemClass }: Field, value: unknown, path: string, unknownFields: string[]) {
  if (!Array.isArray(value) || maxItems === undefined) return value;
  const items: unknown[] = value.slice(0, maxItems + 1);
  if (itemClass === undefined) return items;
  return items.map((item, index) =>
    isPlainObject(item) ? shape(itemClass(), item, `${path}.${index}.`, unknownFields) : null,
  );
}

function fieldsOf(requestClass: RequestClass): ReadonlyMap<string, Field> {
  let fields = known.get(requestClass);
  if (fields === undefined) {
    fields = readFields(requestClass);
    known.set(requestClass, fields);
  }
  return fields;
}

function readFields(requestClass: RequestClass): ReadonlyMap<string, Field> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(requestClass, '', false, false);
  const fields = new Map<string, Field>();
  for (const { propertyName, name, constraints } of rules) {
    const before = fields.get(propertyName);
    const most: unknown = name === ARRAY_MAX_SIZE ? (constraints as unknown[])[0] : undefined;
    fields.set(propertyName, {
      maxItems: typeof most === 'number' ? most : before?.maxItems,
      itemClass: itemClassOf(requestClass, propertyName),
    });
  }
  return fields;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
