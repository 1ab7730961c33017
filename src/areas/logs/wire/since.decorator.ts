import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { parseSince } from '../since.js';

/** A query's `since`, as the moment it names; a duration counts back from when the request came. */
export const Since = (fallback: string) =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'string',
      example: '30m',
      description: `ISO 8601 with any offset (a + written as %2B), or a duration such as 30m; ${fallback}`,
    }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? (parseSince(value, new Date()) ?? value) : value,
    ),
    ValidateBy({
      name: 'since',
      validator: {
        validate: (value: unknown) => value instanceof Date,
        defaultMessage: () =>
          'must be ISO 8601 such as 2026-01-31T12:00:00Z (a + is written as %2B), or a duration such as 30m',
      },
    }),
  );
