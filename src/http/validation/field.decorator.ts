import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, ValidateBy, ValidateIf, ValidateNested } from 'class-validator';

/** May be left out. Unlike class-validator's own, `null` is not "left out" but a wrong type. */
export const Optional = () => ValidateIf((_object, value) => value !== undefined);

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

/** UTF-16 code units of one character at most. */
const MAX_UNITS = 2;

/** A string of `min` to `max` characters. */
export const TextLength = (min: number, max: number) =>
  applyDecorators(
    ApiProperty(lengths(min, max)),
    ValidateBy({
      name: 'textLength',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && hasLength(value, min, max),
        defaultMessage: () => `must be a string of ${min} to ${max} characters`,
      },
    }),
  );

/** Counts no text that is too long however its characters are written: a list of 28 million would hold everybody up. */
function hasLength(text: string, min: number, max: number): boolean {
  return text.length <= MAX_UNITS * max && fits([...text].length, min, max);
}

function lengths(minLength: number, maxLength: number) {
  return { ...(minLength > 0 ? { minLength } : {}), maxLength };
}

function fits(length: number, min: number, max: number): boolean {
  return length >= min && length <= max;
}

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

/** The class of a list's items, as a function so that a class may name one declared below it. */
export type ItemClass = () => new () => object;

const ITEM_CLASS = 'gateway:item-class';

/** A list of at most `most` objects, each checked as an instance of `itemClass`. */
export const ListOf = (itemClass: ItemClass, most: number) =>
  applyDecorators(
    (prototype: object, key: string | symbol) =>
      Reflect.defineMetadata(ITEM_CLASS, itemClass, prototype, key),
    IsArray({ message: 'must be a list' }),
    ValidateNested({ each: true, message: 'must be an object' }),
    ArrayMaxSize(most, { message: `must have at most ${most} items` }),
  );

/** The class of this property's items; undefined for any other property. */
export function itemClassOf(requestClass: { prototype: object }, key: string): ItemClass | undefined {
  return Reflect.getMetadata(ITEM_CLASS, requestClass.prototype, key) as ItemClass | undefined;
}

/** Metadata key of the variants of a request class, read when the document is completed. */
export const VARIANTS = 'x-variants';

export interface Variant {
  /** Fields that this variant must have. */
  readonly required: readonly string[];
  /** Fields that it must not have. */
  readonly without?: readonly string[];
  /** Further constraints on fields in this variant. */
  readonly stricter?: Readonly<Record<string, object>>;
}

export interface VariantRule {
  /** Whether a request matches exactly one of them, or may match several. */
  readonly combination: 'oneOf' | 'anyOf';
  /** By the names that clients generate types from. */
  readonly variants: Readonly<Record<string, Variant>>;
}

/** The forms that a request may take, for the OpenAPI document. The service checks the same rule. */
export const Variants = (combination: VariantRule['combination'], variants: VariantRule['variants']) =>
  ApiExtension(VARIANTS, { combination, variants } satisfies VariantRule);
