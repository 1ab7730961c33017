import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { BadRequest, type FieldProblem } from '../errors/gateway-error.js';

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

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    refusePrototypeKeys(value, metadata);
    return super.transform(value, metadata) as Promise<unknown>;
  }
}

/** class-transformer leaves these out without a word, so they would pass as if they had not been sent. */
function refusePrototypeKeys(value: unknown, metadata: ArgumentMetadata): void {
  if (metadata.type !== 'body' && metadata.type !== 'query') return;
  if (metadata.metatype === undefined || metadata.metatype === Object) return;
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, key)) {
      throw new BadRequest(`Unknown field "${key}".`, {
        details: { fields: [{ path: key, message: 'unknown field' }] },
      });
    }
  }
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
