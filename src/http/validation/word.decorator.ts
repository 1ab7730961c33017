import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';

/** A name in a query: 1 to 128 characters without blanks and control characters. */
export const Word = () =>
  applyDecorators(
    ApiProperty({ minLength: 1, maxLength: 128, pattern: '^\\S+$' }),
    ValidateBy({
      name: 'word',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && /^[^\s\p{Cc}]{1,128}$/u.test(value),
        defaultMessage: () => 'must be a word of 1 to 128 characters without blanks',
      },
    }),
  );
