type Json = Readonly<Record<string, unknown>>;
/** Redacts known secrets. */
type Hide = (text: string) => string;

/** Control characters except tabs and line ends, and characters that change the direction of text. */
const UNSHOWN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g;
/** Parts of a field that hold further titles. */
const NESTED = ['items', 'oneOf', 'anyOf'] as const;
const MAX_DEPTH = 4;

/** A server's text for people: without known secrets, and without characters that make it look like something else. */
export function shownText(text: string, hide: Hide): string {
  return hide(text.replaceAll(UNSHOWN, ''));
}

/**
 * The schema of a question, with titles and descriptions passed through `shownText`. Names, values and bounds stay
 * unchanged, because the server gets them back.
 */
export function shownSchema(schema: Json, hide: Hide): Json {
  const { properties } = schema;
  const shown = shownNode(schema, hide, MAX_DEPTH);
  if (!isJson(properties)) return shown;
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    isJson(field) ? shownNode(field, hide, MAX_DEPTH) : field,
  ]);
  return { ...shown, properties: Object.fromEntries(fields) as Json };
}

function shownNode(node: Json, hide: Hide, depth: number): Json {
  if (depth === 0) return node;
  const changed: Record<string, unknown> = {};
  for (const key of ['title', 'description'] as const) {
    const text = node[key];
    if (typeof text === 'string') changed[key] = shownText(text, hide);
  }
  const { enumNames } = node;
  if (Array.isArray(enumNames))
    changed['enumNames'] = enumNames.map((one: unknown) =>
      typeof one === 'string' ? shownText(one, hide) : one,
    );
  for (const key of NESTED) {
    const part = node[key];
    const below = (one: unknown) => (isJson(one) ? shownNode(one, hide, depth - 1) : one);
    if (part !== undefined) changed[key] = Array.isArray(part) ? part.map(below) : below(part);
  }
  return { ...node, ...changed };
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
