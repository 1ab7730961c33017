import { ValidateBy } from 'class-validator';
import type { ResponseFormat } from '../../models/models.api.js';

export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
export const TOOL_CHOICES = ['auto', 'none', 'required'];
const MAX_SCHEMA_BYTES = 65_536;
const MAX_SCHEMA_DEPTH = 32;

/** As a caller writes it. */
export interface ResponseFormatRequest {
  readonly type: 'json_schema';
  readonly json_schema: ResponseFormat;
}

/** A field with a rule of its own, and the sentence for a value that breaks it. */
export function Checked(validate: (value: unknown) => boolean, message: string): PropertyDecorator {
  return ValidateBy({ name: 'checked', validator: { validate, defaultMessage: () => message } });
}

export function isNumber(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

export function isToolChoice(value: unknown): boolean {
  if (typeof value === 'string') return TOOL_CHOICES.includes(value);
  return hasOnly(value, ['name']) && isName(value['name']);
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && TOOL_NAME.test(value);
}

export function isStop(value: unknown): boolean {
  const isText = (one: unknown) => typeof one === 'string' && one.length >= 1 && one.length <= 64;
  return Array.isArray(value) && value.length >= 1 && value.length <= 4 && value.every(isText);
}

export function isResponseFormat(value: unknown): boolean {
  if (!hasOnly(value, ['type', 'json_schema']) || value['type'] !== 'json_schema') return false;
  const format = value['json_schema'];
  if (!hasOnly(format, ['name', 'schema', 'strict']) || !isName(format['name'])) return false;
  const { schema, strict } = format;
  return (
    isRecord(schema) &&
    (strict === undefined || typeof strict === 'boolean') &&
    !isDeeper(schema, MAX_SCHEMA_DEPTH) &&
    Buffer.byteLength(JSON.stringify(schema)) <= MAX_SCHEMA_BYTES
  );
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasOnly(value: unknown, keys: readonly string[]): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && Object.keys(value).every((key) => keys.includes(key));
}
