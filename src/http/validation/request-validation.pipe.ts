import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import { type ValidationError, validate } from 'class-validator';
import { BadFields } from '../../common/errors/bad-fields.js';
import type { FieldProblem } from '../../common/errors/gateway-error.js';
import { FurtherChecks } from './further-checks.js';
import { shapeBody } from './request-fields.js';

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
    // Caller and key are made here, not sent.
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
    const { instance, unknownFields: strangers } = shapeBody(requestClass, body);
    const errors = await validate(instance, RULES);
    if (strangers.length === 0 && errors.length === 0) return instance;
    const unknown = strangers.map((path) => ({ path: truncate(path), message: UNKNOWN_FIELD }));
    const refusal = new BadFields([...unknown, ...errors.flatMap((error) => problems(error, ''))]);
    throw await this.further.widened(refusal, requestClass, body);
  }
}

/** class-transformer drops keys that every object inherits, so they would pass as if not sent. */
function refuseInheritedKeys(query: unknown): void {
  const strangers = Object.keys(query ?? {}).filter((key) => key in Object.prototype);
  if (strangers.length > 0)
    throw new BadFields(strangers.map((path) => ({ path: truncate(path), message: UNKNOWN_FIELD })));
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
