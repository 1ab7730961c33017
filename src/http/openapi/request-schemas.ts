import { VARIANTS, type VariantRule } from '../validation/variants.decorator.js';
import { reachableSchemas } from './json-schema.js';
import { type Document, operationsOf, type Schema, type SchemaOrReference, type Schemas } from './shapes.js';

/** Closes every object that a caller sends to further fields, and adds the variants that it may take. */
export function closeRequests(document: Document): void {
  const schemas = document.components?.schemas ?? {};
  const bodies = operationsOf(document).map(({ operation }) => operation.requestBody ?? {});
  for (const name of reachableSchemas(bodies, schemas)) {
    const schema = schemas[name];
    if (schema === undefined || '$ref' in schema) continue;
    schema.additionalProperties ??= false;
    const rule = (schema as { [VARIANTS]?: VariantRule })[VARIANTS];
    if (rule !== undefined) schemas[name] = combined(schema, rule, schemas);
  }
}

function combined(schema: Schema, { combination, variants }: VariantRule, schemas: Schemas): Schema {
  const { description, properties = {}, required = [] } = schema;
  const references = Object.entries(variants).map(([name, variant]) => {
    const { without = [], stricter = {} } = variant;
    const kept = Object.entries(properties).filter(([field]) => !without.includes(field));
    schemas[name] = {
      type: 'object',
      additionalProperties: false,
      required: [...new Set([...required, ...variant.required])],
      properties: Object.fromEntries(
        kept.map(([field, one]): [string, SchemaOrReference] => [field, { ...one, ...stricter[field] }]),
      ),
    };
    return { $ref: `#/components/schemas/${name}` };
  });
  return { ...(description === undefined ? {} : { description }), [combination]: references };
}
