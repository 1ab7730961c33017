import type { SettingsJsonSchema } from './json-schema.js';

/** The type of a value in words: `integer from 1 to 1000`. */
export function typeText(schema: SettingsJsonSchema): string {
  if (schema.enum !== undefined)
    return `one of ${schema.enum.map((word) => JSON.stringify(word)).join(', ')}`;
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
      throw new TypeError(`A setting of the type ${String(schema.type)} has no words yet.`);
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
