import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import { ARRAY_MAX_SIZE, getMetadataStorage, type ValidationError, validate } from 'class-validator';
import { BadFields, type FieldProblem } from '../../common/errors/gateway-error.js';
import { type ItemClass, itemClassOf } from './field.decorator.js';
import { FurtherChecks } from './further-checks.js';
import { surelyPasses } from './quick-check.js';

const RULES = { forbidUnknownValues: true, stopAtFirstError: true } as const;
const UNKNOWN_FIELD = 'unknown field';

/** Checks bodies and queries against their DTOs; every problem is named with the path of its field. */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor(private readonly further: FurtherChecks = new FurtherChecks()) {
    super({
      ...RULES,
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      exceptionFactory: (errors) => badFields(errors),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, metatype } = metadata;
    // Caller and key come from the guards, not from the request.
    if (type === 'custom') return value;
    if (metatype === undefined || metatype === Object) return super.transform(value, metadata);
    if (type === 'body') return this.checkBody(value, metatype as new () => object);
    if (type === 'query') refuseInheritedKeys(value);
    return super.transform(value, metadata);
  }

  /** Removes nothing: a free object keeps every key, and everywhere else such keys were refused. */
  protected override stripProtoKeys(): void {
    // Left alone on purpose.
  }

  private async checkBody(body: unknown, requestClass: new () => object): Promise<object> {
    const { instance, unknownFields } = shapeBody(requestClass, body);
    const errors = surelyPasses(instance) ? [] : await validate(instance, RULES);
    if (unknownFields.length === 0 && errors.length === 0) return instance;
    const unknown = unknownFields.map((path) => ({ path: truncate(path), message: UNKNOWN_FIELD }));
    const refusal = new BadFields([...unknown, ...errors.flatMap((error) => problems(error, ''))]);
    throw await this.further.widened(refusal, requestClass, body);
  }
}

/** class-transformer drops keys that every object inherits, so they would pass as if not sent. */
function refuseInheritedKeys(query: unknown): void {
  const inherited = Object.keys(query ?? {}).filter((key) => key in Object.prototype);
  if (inherited.length > 0)
    throw new BadFields(inherited.map((path) => ({ path: truncate(path), message: UNKNOWN_FIELD })));
}

function badFields(errors: readonly ValidationError[]): BadFields {
  return new BadFields(errors.flatMap((error) => problems(error, '')));
}

function problems(error: ValidationError, parent: string): FieldProblem[] {
  const path = truncate(parent === '' ? error.property : `${parent}.${error.property}`);
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
    path,
    message: rule === 'whitelistValidation' ? UNKNOWN_FIELD : message,
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => problems(child, path))];
}

/** Values longer than 64 characters are never echoed; a field's name is a value here. */
function truncate(path: string): string {
  return path.length <= 64 ? path : `${path.slice(0, 61)}...`;
}

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
 * Creates the instance that is validated. Copies only fields of the class, and of a list one item more than it may have:
 * nothing else in a body is walked, so refusing it costs no more than naming its fields.
 */
function shapeBody(requestClass: RequestClass, body: unknown): ShapedBody {
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
