export interface OpenApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description?: string;
  example?: unknown;
  schema: { type?: string; example?: unknown; default?: unknown; enum?: unknown[] };
}

export interface OpenApiResponse {
  $ref?: string;
  description?: string;
  headers?: Record<string, { $ref?: string }>;
  content?: Record<string, { schema: Record<string, unknown>; example?: unknown }>;
}

export interface OpenApiOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: OpenApiParameter[];
  requestBody?: {
    required: boolean;
    content: Record<
      string,
      { schema: Record<string, unknown>; examples?: Record<string, { value: unknown }> }
    >;
  };
  responses: Record<string, OpenApiResponse>;
  'x-extension'?: boolean;
}

export interface OpenApi {
  openapi: string;
  info: { version: string; contact: { name: string } };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, Record<string, unknown>>;
    responses: Record<string, OpenApiResponse>;
    headers: Record<string, unknown>;
    securitySchemes: Record<string, Record<string, string>>;
  };
}

export interface RoutedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiOperation;
}

export function operationsOf(document: OpenApi): RoutedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** The response itself when the document has a reference. */
export function resolved(document: OpenApi, response: OpenApiResponse): OpenApiResponse {
  const name = response.$ref?.split('/').at(-1);
  return name === undefined ? response : document.components.responses[name]!;
}
