import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { BadRequest, type FieldProblem } from '../errors/gateway-error.js';
import { isFreeObject } from './validation/free-object.decorator.js';

/** Checks bodies and queries against their DTOs; every problem is named with the path of its field. */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      forbidUnknownValues: true,
      stopAtFirstError: true,
      exceptionFactory: (errors) => badFields(errors),
    });
  }

  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    // The caller, the key: made here, not sent.
    if (metadata.type === 'custom') return Promise.resolve(value);
    refusePrototypeKeys(value, metadata);
    return super.transform(value, metadata) as Promise<unknown>;
  }

  /** Nothing is taken out in silence: a free object keeps every key, and everywhere else such keys were refused. */
  protected override stripProtoKeys(): void {
    // Left alone on purpose.
  }
}

/** class-transformer leaves out keys that every object inherits, so they would pass as if they had not been sent. */
function refusePrototypeKeys(value: unknown, { type, metatype }: ArgumentMetadata): void {
  if ((type !== 'body' && type !== 'query') || metatype === undefined || metatype === Object) return;
  const stranger = inheritedKey(value, '', (key) => isFreeObject(metatype, key));
  if (stranger === undefined) return;
  throw new BadRequest(`${stranger}: unknown field`, {
    details: { fields: [{ path: stranger, message: 'unknown field' }] },
  });
}

/** The path of the first such key. The value's depth is bounded where its JSON was read. */
function inheritedKey(value: unknown, parent: string, isFree: (key: string) => boolean): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const path = cut(parent + key);
    if (key in Object.prototype) return path;
    if (isFree(key)) continue;
    const found = inheritedKey(inner, `${path}.`, () => false);
    if (found !== undefined) return found;
  }
  return undefined;
}

function badFields(errors: readonly ValidationError[]): BadRequest {
  const fields = errors.flatMap((error) => problems(error, '')).slice(0, 20);
  const [first] = fields;
  const sentence = first === undefined ? 'The request is not valid.' : `${first.path}: ${first.message}`;
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more)` : '';
  return new BadRequest(`${sentence}${more}`, { details: { fields } });
}

function problems(error: ValidationError, parent: string): FieldProblem[] {
  const path = cut(parent === '' ? error.property : `${parent}.${error.property}`);
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
    path,
    message: rule === 'whitelistValidation' ? 'unknown field' : message,
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => problems(child, path))];
}

/** Values longer than 64 characters are never echoed; a field's name is a value here. */
function cut(path: string): string {
  return path.length <= 64 ? path : `${path.slice(0, 61)}...`;
}
