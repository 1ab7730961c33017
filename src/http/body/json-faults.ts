import { BadRequest } from '../../common/errors/gateway-error.js';

/** The answer to a body that is not JSON, or not an object: what was expected where, and at most one character of what was there. */
export function malformedJson(bytes: Buffer, at: number, expected: string): BadRequest {
  const found = describe(bytes[at]);
  // `[]` and `null` are valid JSON: what is wrong with them is something else.
  if (expected === 'an object')
    return new BadRequest(`The body has to be a JSON object: found ${found} at byte ${at}.`);
  return new BadRequest(`The body is not valid JSON: expected ${expected} at byte ${at}, found ${found}.`);
}

function describe(byte: number | undefined): string {
  if (byte === undefined) return 'the end';
  const isPrintable = byte > 0x20 && byte < 0x7f;
  return isPrintable ? `'${String.fromCharCode(byte)}'` : `byte 0x${byte.toString(16).padStart(2, '0')}`;
}
