type Json = Readonly<Record<string, unknown>>;

/** Converts a schema of OpenAPI 3.0 to JSON Schema, where `null` is a type and examples are a list. */
export function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { nullable, example, ...rest } = schema as Json;
  const converted = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, toJsonSchema(value)]),
  );
  if (nullable === true) converted['type'] = [rest['type'], 'null'];
  if (example !== undefined) converted['examples'] = [example];
  return converted;
}

/** The names of the schemas that `root` refers to, directly or through others. */
export function reachableSchemas(root: unknown, schemas: Json): Set<string> {
  const found = new Set<string>();
  const look = (node: unknown): void => {
    for (const [, name = ''] of JSON.stringify(node ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      look(schemas[name]);
    }
  };
  look(root);
  return found;
}
