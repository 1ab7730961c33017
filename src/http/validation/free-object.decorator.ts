import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';

/** An object of any keys, at most `maxBytes` as JSON. */
export const FreeObject = (maxBytes: number) =>
  applyDecorators(
    ApiProperty({ type: 'object', additionalProperties: true }),
    ValidateBy({
      name: 'freeObject',
      validator: {
        validate: (value: unknown) => isObject(value) && Buffer.byteLength(JSON.stringify(value)) <= maxBytes,
        defaultMessage: () => `must be an object of at most ${maxBytes} bytes as JSON`,
      },
    }),
  );

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
