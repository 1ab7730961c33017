const MAX_BYTES = 131_072;
const MAX_DEPTH = 64;
const MAX_VALUES = 20_000;

/**
 * What makes a schema too large to be used, in words; undefined for one within the bounds: 128 KiB of JSON, 64 levels,
 * 20,000 values. Takes time in proportion to the bounds, whatever the schema is.
 */
export function schemaBoundsProblem(schema: unknown): string | undefined {
  let values = 0;
  const left: { readonly value: unknown; readonly depth: number }[] = [{ value: schema, depth: 0 }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) return `its schema is nested more than ${MAX_DEPTH} levels deep`;
    const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    values += parts.length;
    if (values > MAX_VALUES) return `its schema has more than ${MAX_VALUES} values`;
    for (const part of parts) left.push({ value: part, depth: depth + 1 });
  }
  return bytesOf(schema) > MAX_BYTES ? `its schema has more than ${MAX_BYTES} bytes` : undefined;
}

function bytesOf(schema: unknown): number {
  return schema === undefined ? 0 : JSON.stringify(schema).length;
}
