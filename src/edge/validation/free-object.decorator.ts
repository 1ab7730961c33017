import { applyDecorators } from '@nestjs/common';
import { Transform, Type } from 'class-transformer';
import { ValidateBy } from 'class-validator';

const FREE_OBJECT = 'gateway:free-object';

/** An object of any keys, at most `maxBytes` as JSON. Taken as it was sent: class-transformer would lose some keys. */
export const FreeObject = (maxBytes: number) =>
  applyDecorators(
    (prototype: object, key: string | symbol) => Reflect.defineMetadata(FREE_OBJECT, true, prototype, key),
    // A type that it does not look into: class-transformer calls `constructor` and `hasOwnProperty` of what it copies.
    Type(() => Boolean),
    Transform(({ obj, key }) => (obj as Record<string, unknown>)[key]),
    ValidateBy({
      name: 'freeObject',
      validator: {
        validate: (value: unknown) => isObject(value) && Buffer.byteLength(JSON.stringify(value)) <= maxBytes,
        defaultMessage: () => `must be an object of at most ${maxBytes} bytes as JSON`,
      },
    }),
  );

/** Whether this property of a request class may hold any keys. */
export function isFreeObject(requestClass: { prototype: object }, key: string): boolean {
  return Reflect.hasMetadata(FREE_OBJECT, requestClass.prototype, key);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
