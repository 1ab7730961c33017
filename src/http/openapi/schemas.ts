import type { OpenAPIObject } from '@nestjs/swagger';
import { VARIANTS, type VariantRule } from '../validation/field.decorator.js';

export type Document = OpenAPIObject;
export type Operation = NonNullable<OpenAPIObject['paths'][string]['post']>;
export type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
export type SchemaOrReference = Schemas[string];
export type Schema = Exclude<SchemaOrReference, { $ref: string }>;
export type Components = NonNullable<OpenAPIObject['components']>;
export type ResponseObject = Exclude<NonNullable<Components['responses']>[string], { $ref: string }>;

const METHODS = ['get', 'post', 'patch', 'delete'] as const;
export type Method = (typeof METHODS)[number];

/** One operation of a document, with where it stands. */
export interface RoutedOperation {
  readonly path: string;
  readonly method: Method;
  readonly operation: Operation;
}

export function operationsOf(document: Document): RoutedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ path, method, operation }];
    }),
  );
}

/** `SessionListViewA` and `SessionListViewB` are called `SessionList` by their clients, `CreateSessionRequestA` loses its letter. */
export function publicName(className: string): string {
  return className.replace(/View[AB]?$/, '').replace(/Request[AB]$/, 'Request');
}

/** The document with its schemas under the names that clients generate types from. Throws when two would share one. */
export function withPublicNames(document: Document): Document {
  const names = new Map<string, string>();
  for (const name of Object.keys(document.components?.schemas ?? {})) {
    const given = publicName(name);
    if ([...names.values()].includes(given)) throw new Error(`Two schemas would be called ${given}.`);
    names.set(name, given);
  }
  const text = JSON.stringify(document).replace(
    /"#\/components\/schemas\/(\w+)"/g,
    (_whole, name: string) => `"#/components/schemas/${names.get(name) ?? name}"`,
  );
  const renamed = JSON.parse(text) as Document;
  const entries = Object.entries(renamed.components?.schemas ?? {});
  const schemas: Schemas = Object.fromEntries(
    entries.map(([name, schema]) => [names.get(name) ?? name, schema]),
  );
  return { ...renamed, components: { ...renamed.components, schemas } };
}

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
