import type { SettingsJsonSchema } from './json-schema.js';

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
