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
        validate: (value: unknown) => isObject(value) && fitsAsJson(value, maxBytes),
        defaultMessage: () => `must be an object of at most ${maxBytes} bytes as JSON`,
      },
    }),
  );

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Serializes only values that may fit: a hostile body can be a hundred times as large. */
function fitsAsJson(value: object, maxBytes: number): boolean {
  return roomLeft(value, maxBytes) >= 0 && Buffer.byteLength(JSON.stringify(value)) <= maxBytes;
}

/** `room` less the least size of a value as JSON (characters, quotes, commas); stops once nothing is left. */
function roomLeft(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length - 2;
  if (typeof value !== 'object' || value === null) return room - 1;
  let left = room - 2;
  for (const key in value) {
    if (left < 0) return left;
    const name = Array.isArray(value) ? 0 : key.length + 3;
    left = roomLeft((value as Record<string, unknown>)[key], left - name);
  }
  return left;
}
