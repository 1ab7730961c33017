import type { OpenAPIObject } from '@nestjs/swagger';

type Headers = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>;

const seconds = { type: 'integer', minimum: 1 } as const;
const count = { type: 'integer', minimum: 0 } as const;

/** Every header that a response may carry besides those of HTTP itself. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: 'The id of this request in the logs: the one that was sent in this header, else a new one',
    schema: { type: 'string' },
  },
  'X-RateLimit-Limit': {
    description: 'Requests per second that this group of endpoints allows, and the size of its bucket',
    schema: count,
  },
  'X-RateLimit-Remaining': { description: 'Requests that are left in the bucket', schema: count },
  'X-RateLimit-Reset': {
    description: 'The Unix second at which the bucket will be full again',
    schema: count,
  },
  'Retry-After': { description: 'Seconds to wait before the request is sent again', schema: seconds },
  'WWW-Authenticate': {
    description: 'The challenge: a bearer token',
    schema: { type: 'string', example: 'Bearer realm="agent-gateway"' },
  },
  Allow: {
    description: 'The methods that this path answers to',
    schema: { type: 'string', example: 'GET, HEAD, POST' },
  },
  ETag: {
    description: 'The version of what is answered, for `If-Match` and `If-None-Match`',
    schema: { type: 'string' },
  },
  Location: { description: 'Where the answer will be', schema: { type: 'string', format: 'uri-reference' } },
  'Preference-Applied': {
    description: 'The preference that was honoured',
    schema: { type: 'string', enum: ['respond-async'] },
  },
  'Idempotency-Replayed': {
    description: '`true` when this is the answer of an earlier request with the same Idempotency-Key',
    schema: { type: 'string', enum: ['true'] },
  },
} as const satisfies Headers;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** On every response. */
export const COMMON_HEADERS: readonly ResponseHeader[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** References to the headers among the components. */
export function headerReferences(names: readonly ResponseHeader[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
