import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';

/** A string of `min` to `max` bytes of UTF-8. The OpenAPI document counts characters, of which there are never more than bytes. */
export const Utf8Length = (min: number, max: number) =>
  applyDecorators(
    ApiProperty(lengths(min, max)),
    ValidateBy({
      name: 'utf8Length',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && fits(Buffer.byteLength(value), min, max),
        defaultMessage: () => `must be a string of ${min} to ${max} bytes`,
      },
    }),
  );

/** A string of `min` to `max` characters. */
export const TextLength = (min: number, max: number) =>
  applyDecorators(
    ApiProperty(lengths(min, max)),
    ValidateBy({
      name: 'textLength',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && fits([...value].length, min, max),
        defaultMessage: () => `must be a string of ${min} to ${max} characters`,
      },
    }),
  );

function lengths(minLength: number, maxLength: number) {
  return { ...(minLength > 0 ? { minLength } : {}), maxLength };
}

function fits(length: number, min: number, max: number): boolean {
  return length >= min && length <= max;
}
