import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import type { DocumentId } from '../../src/http/openapi/described-api.js';

type Json = Record<string, unknown>;
interface DocumentedResponse {
  $ref?: string;
  content?: Record<string, { schema?: Json }>;
}
interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, DocumentedResponse> }>>;
  components: { schemas: Record<string, Json>; responses: Record<string, DocumentedResponse> };
}

const JSON_TYPE = /^application\/json/;

/** What an OpenAPI document says about responses: the checked-in one, which the gateway serves. */
export class DocumentedAnswers {
  private static readonly known = new Map<DocumentId, DocumentedAnswers>();
  private readonly templates: { pattern: RegExp; path: string }[];
  private readonly bodies = new Map<string, ValidateFunction | undefined>();
  private readonly ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });

  static of(id: DocumentId): DocumentedAnswers {
    const known = DocumentedAnswers.known.get(id) ?? new DocumentedAnswers(read(id));
    DocumentedAnswers.known.set(id, known);
    return known;
  }

  constructor(private readonly document: OpenApi) {
    this.templates = Object.keys(document.paths)
      .sort((one, other) => one.split('{').length - other.split('{').length)
      .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }));
  }

  /** Whether the document has this operation with this status. `route` is a template with `:name`. */
  has(method: string, route: string, status: number): boolean {
    const operation = this.operation(method, route.replace(/:(\w+)/g, '{$1}'));
    return operation === undefined || String(status) in operation.responses;
  }

  /**
   * What is wrong with the body of a response, by a schema that allows no undocumented field; undefined when it fits.
   */
  problem(method: string, pathname: string, status: number, body: unknown): string | undefined {
    const path = this.templates.find(({ pattern }) => pattern.test(pathname))?.path;
    const operation = path === undefined ? undefined : this.operation(method, path);
    if (path === undefined || operation === undefined) return undefined;
    const validate = this.validator(`${method} ${path} ${status}`, operation.responses[String(status)]);
    if (validate === undefined || validate(body)) return undefined;
    return `${method} ${path} ${status} is not as documented: ${this.ajv.errorsText(validate.errors)}`;
  }

  private operation(method: string, path: string) {
    return this.document.paths[path]?.[(method === 'HEAD' ? 'GET' : method).toLowerCase()];
  }

  private validator(key: string, response: DocumentedResponse | undefined): ValidateFunction | undefined {
    if (!this.bodies.has(key)) this.bodies.set(key, this.compiled(response));
    return this.bodies.get(key);
  }

  private compiled(response: DocumentedResponse | undefined): ValidateFunction | undefined {
    const name = response?.$ref?.split('/').at(-1);
    const resolved = name === undefined ? response : this.document.components.responses[name];
    const schema = Object.entries(resolved?.content ?? {}).find(([type]) => JSON_TYPE.test(type))?.[1].schema;
    if (schema === undefined) return undefined;
    return this.ajv.compile(closed({ ...schema, components: this.document.components }) as Json);
  }
}

export function documentFile(id: DocumentId, kind = 'openapi'): string {
  return join(__dirname, `../../docs/${id === 'admin' ? id : `profile-${id}`}.${kind}.json`);
}

function read(id: DocumentId): OpenApi {
  const file = documentFile(id);
  return JSON.parse(readFileSync(file, 'utf8')) as OpenApi;
}

/** Forbids additional fields in objects with named fields. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in schema && 'type' in schema ? { additionalProperties: false, ...inner } : inner;
}
