import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';

/** Standard base64 with its padding (RFC 4648, section 4), not empty. */
export const Base64 = () =>
  applyDecorators(
    ApiProperty({ format: 'byte', minLength: 4 }),
    ValidateBy({
      name: 'base64',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && isBase64(value),
        defaultMessage: () => 'must be base64 with padding',
      },
    }),
  );

/** Decoding and encoding again is native code and exact; a regular expression over 27 MiB is neither. */
function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && Buffer.from(text, 'base64').toString('base64') === text;
}
