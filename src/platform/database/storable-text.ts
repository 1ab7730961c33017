/** Text from outside (models, tools) as PostgreSQL can store it: without NUL, and with lone surrogates replaced. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/**
 * The same for every text within JSON, names included: PostgreSQL accepts all escapes of JSON except those for NUL and
 * for lone surrogates.
 */
export function storableJson<Json>(value: Json): Json {
  return storable(value) as Json;
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [storableText(name), storable(part)]),
  );
}
