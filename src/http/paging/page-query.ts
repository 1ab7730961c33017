import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { Optional } from '../validation/field.decorator.js';

const MAX_LIMIT = 500;
const DEFAULT_LIMIT = 50;
const MAX_CURSOR_CHARACTERS = 1024;

/** How many items a page has: 1 to 500, 50 unless told otherwise. */
const PageLimit = () =>
  applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value,
    ),
    ValidateBy({
      name: 'pageLimit',
      validator: {
        validate: (value: unknown) => typeof value === 'number' && value >= 1 && value <= MAX_LIMIT,
        defaultMessage: () => `must be a whole number from 1 to ${MAX_LIMIT}`,
      },
    }),
  );

/** The query of every list of the operators' API; a list with filters extends it. */
export class PageQuery {
  @PageLimit()
  limit = DEFAULT_LIMIT;

  @ApiPropertyOptional({
    type: 'string',
    maxLength: MAX_CURSOR_CHARACTERS,
    description:
      'The `next_cursor` of the page before, with the same filters; leave it out for the first page',
  })
  @Optional()
  @ValidateBy({
    name: 'cursor',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'string' && value.length > 0 && value.length <= MAX_CURSOR_CHARACTERS,
      defaultMessage: () => 'must be the next_cursor of the page before',
    },
  })
  cursor?: string;
}
