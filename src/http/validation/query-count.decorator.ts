import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

/** Larger page sizes count as this one (docs/specification/silences.md, Requests). */
export const MAX_PER_PAGE = 500;

/** A whole number written in digits, below 2^53; larger than `cap` counts as `cap`. Give the property its default. */
export const QueryCount = (fallback: number, cap = Number.MAX_SAFE_INTEGER) =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: fallback,
      ...(cap < Number.MAX_SAFE_INTEGER ? { description: `More than ${cap} is served as ${cap}` } : {}),
    }),
    Transform(({ value }: { value: unknown }) => parsed(value, cap)),
    ValidateBy({
      name: 'queryCount',
      validator: {
        validate: (value: unknown) => typeof value === 'number',
        defaultMessage: () => 'must be a whole number from 0 to 9007199254740991',
      },
    }),
  );

function parsed(value: unknown, cap: number): unknown {
  if (typeof value !== 'string' || !/^\d+$/.test(value))
    return typeof value === 'number' ? value : String(value);
  const number = Number(value);
  return Number.isSafeInteger(number) ? Math.min(number, cap) : value;
}
