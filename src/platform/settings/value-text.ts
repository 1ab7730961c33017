import { stringify } from 'smol-toml';
import { isTable } from './dotted-path.js';
import type { SettingsJsonSchema } from './settings-tree.js';

/** The type of a value in words: `integer from 1 to 1000`. */
export function typeText(schema: SettingsJsonSchema): string {
  if (schema.enum !== undefined)
    return `one of ${schema.enum.map((word) => JSON.stringify(word)).join(', ')}`;
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' or ');
  switch (schema.type) {
    case 'boolean':
      return 'true or false';
    case 'integer':
    case 'number':
      return schema.type + range(schema.minimum, schema.maximum);
    case 'string':
      return `text${lengths(schema.minLength, schema.maxLength, 'characters')}`;
    case 'array':
      return `list${lengths(schema.minItems, schema.maxItems, 'items')}, each ${typeText(schema.items ?? {})}`;
    case 'object':
      return objectText(schema);
    default:
      throw new TypeError(`A setting of the type ${String(schema.type)} cannot be described yet.`);
  }
}

function objectText({ properties, additionalProperties: values }: SettingsJsonSchema): string {
  if (properties !== undefined || typeof values !== 'object') return 'table of settings';
  return `table, each value ${typeText(values)}`;
}

function range(min: number | undefined, max: number | undefined): string {
  const from = min === undefined || min === Number.MIN_SAFE_INTEGER ? '' : ` from ${min}`;
  return from + (max === undefined || max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`);
}

function lengths(min: number | undefined, max: number | undefined, unit: string): string {
  if (min === undefined && max === undefined) return '';
  if (min === undefined) return ` of at most ${max} ${unit}`;
  return max === undefined ? ` of at least ${min} ${unit}` : ` of ${min} to ${max} ${unit}`;
}

/**
 * Parses text by the type of its key: a number, `true` or `false`, a list as JSON or separated by commas, a table as
 * JSON; anything else is text. `undefined` when the text is not of that type; bounds are checked elsewhere.
 */
export function parseValue(schema: SettingsJsonSchema, text: string): unknown {
  switch (schema.type) {
    case 'integer':
    case 'number':
      return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : undefined);
    case 'array':
      return text.trimStart().startsWith('[') ? parseJson(text) : parseList(schema.items ?? {}, text);
    case 'object':
      return parseJson(text);
    default:
      return text;
  }
}

function parseList(items: SettingsJsonSchema, text: string): readonly unknown[] | undefined {
  if (text.trim() === '') return [];
  const values = text.split(',').map((part) => parseValue(items, part.trim()));
  return values.includes(undefined) ? undefined : values;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A value as written on one line of TOML. */
export function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (!isTable(value)) return stringify({ value }).trim().slice('value = '.length);
  const entries = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)} = ${tomlValue(part)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
