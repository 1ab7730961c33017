import type { ErrorCode } from '../../common/errors/gateway-error.js';
import type { ProfileId } from '../profiles/profile.js';
import { COMMON_HEADERS, headerReferences, type ResponseHeader } from '../response-headers.js';
import type { ResponseObject, Schema } from './schemas.js';

interface Refusal {
  /** The name among the components. */
  readonly name: string;
  readonly code: ErrorCode;
  readonly description: string;
  /** What the answer may say: an example. */
  readonly message: string;
  readonly headers?: readonly ResponseHeader[];
}

/** Every status with which the gateway refuses, with the code word of its envelope (docs/specification/api.md, 7). */
export const REFUSALS = {
  400: {
    name: 'BadRequest',
    code: 'bad_request',
    description: 'The path, a query value, a header or the body is malformed; the message names the field',
    message: 'limit: must be a whole number from 0 to 9007199254740991',
  },
  401: {
    name: 'Unauthorized',
    code: 'unauthorized',
    description: 'The access token is missing, malformed, unknown, expired or revoked',
    message: 'An access token is required. Send it as "Authorization: Bearer <token>".',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    code: 'forbidden',
    description: 'The token lacks a scope, or is bound to another user',
    message: 'This token lacks the scope "sessions:write". Ask for a token that has it.',
  },
  404: {
    name: 'NotFound',
    code: 'not_found',
    description: 'What the path names does not exist, or is not for this token to see',
    message: 'There is no such session.',
  },
  405: {
    name: 'MethodNotAllowed',
    code: 'bad_request',
    description: 'The path does not support this method',
    message: 'This path answers only to GET, HEAD.',
    headers: ['Allow'],
  },
  408: {
    name: 'RequestTimeout',
    code: 'bad_request',
    description: 'The request did not arrive in time',
    message: 'The request did not arrive in time.',
  },
  409: {
    name: 'Conflict',
    code: 'conflict',
    description:
      'The state of the resource does not allow it, or the Idempotency-Key belongs to another request or one that still runs',
    message: 'The session has ended. Create a new one with POST /sessions.',
    headers: ['Retry-After'],
  },
  413: {
    name: 'BodyTooLarge',
    code: 'bad_request',
    description: 'The body is larger than this operation reads',
    message: 'The body is larger than 1048576 bytes.',
  },
  414: {
    name: 'UriTooLong',
    code: 'bad_request',
    description: 'The URI is longer than 8,192 bytes',
    message: 'The URI is longer than 8192 bytes.',
  },
  415: {
    name: 'UnsupportedMediaType',
    code: 'bad_request',
    description: 'The body is not JSON in UTF-8, or is compressed',
    message: 'The body has to be JSON in UTF-8: send "Content-Type: application/json".',
  },
  429: {
    name: 'RateLimited',
    code: 'rate_limited',
    description: 'Too many requests; for messages also: a limit on tokens is reached',
    message: 'Too many requests: this group of endpoints allows 30 per second. Try again in 1 s.',
    headers: ['Retry-After'],
  },
  431: {
    name: 'HeadersTooLarge',
    code: 'bad_request',
    description: 'The headers are larger than 16,384 bytes',
    message: 'The headers are larger than 16384 bytes.',
  },
  500: {
    name: 'InternalError',
    code: 'internal_error',
    description: 'Something unexpected went wrong; the log has it under the request id',
    message: 'Something unexpected went wrong.',
  },
  502: {
    name: 'ProviderFailed',
    code: 'internal_error',
    description: 'The model provider failed; the message says how',
    message: 'The model provider answered with status 500.',
    headers: ['Idempotency-Replayed'],
  },
  503: {
    name: 'Unavailable',
    code: 'internal_error',
    description: 'The gateway is stopping, its database does not answer, or it serves as many as it can',
    message: 'The database cannot be reached. Try again in 1 s.',
    headers: ['Retry-After'],
  },
  504: {
    name: 'ProviderTimedOut',
    code: 'internal_error',
    description: 'The model provider or the whole turn ran out of time',
    message: 'The model provider sent nothing for 60 s.',
    headers: ['Idempotency-Replayed'],
  },
} as const satisfies Record<number, Refusal>;

export type RefusalStatus = keyof typeof REFUSALS;

/** The response of a refusal in the profile's envelope. */
export function refusalResponse(status: RefusalStatus, profile: ProfileId): ResponseObject {
  const { code, description, message, headers = [] }: Refusal = REFUSALS[status];
  const error = profile === 'b' ? { code, message, details: null } : { code, message };
  return {
    description,
    headers: headerReferences([...headers, ...COMMON_HEADERS]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ErrorEnvelope' },
        example: { error },
      },
    },
  };
}

export function refusalReference(status: RefusalStatus): { $ref: string } {
  return { $ref: `#/components/responses/${REFUSALS[status].name}` };
}

const CODES = [...new Set<ErrorCode>(Object.values(REFUSALS).map(({ code }) => code))];

const FIELD: Schema = {
  type: 'object',
  required: ['path', 'message'],
  properties: {
    path: { type: 'string', description: 'The dotted path of the field', example: 'attachments.0.data' },
    message: { type: 'string', example: 'must be base64 with padding' },
  },
};

const DETAILS: Schema = {
  type: 'object',
  nullable: true,
  properties: {
    reason: { type: 'string', description: 'A fixed word for the cause', example: 'turn_in_progress' },
    fields: { type: 'array', items: FIELD, description: 'What is wrong with which field' },
  },
};

/** The envelope of every error (docs/specification/api.md, 7): Profile B adds `details`. */
export function errorEnvelopeSchema(profile: ProfileId): Schema {
  const properties: Record<string, Schema> = {
    code: { type: 'string', enum: CODES },
    message: { type: 'string', description: 'What went wrong and what to do next, for people' },
  };
  const error: Schema =
    profile === 'a'
      ? { type: 'object', required: ['code', 'message'], properties }
      : {
          type: 'object',
          required: ['code', 'message', 'details'],
          properties: { ...properties, details: DETAILS },
        };
  return { type: 'object', required: ['error'], properties: { error } };
}
