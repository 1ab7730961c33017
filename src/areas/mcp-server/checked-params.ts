import { ProtocolErrorCode, specTypeSchemas } from '@modelcontextprotocol/server';
import { isRequestNumber } from './call-ids.js';

/** Of calls of tools the library itself says what is wrong. */
const SCHEMAS = {
  initialize: specTypeSchemas.InitializeRequest,
  ping: specTypeSchemas.PingRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
} as const;

/** An id and a progress token come back with every message about their call, which wait for a caller that reads slowly. */
const MAX_ID_CHARACTERS = 256;

/** The answer to a request whose id or progress token is too long; undefined for any other. */
export function refusedIds({ id, params }: Readonly<Record<string, unknown>>): Response | undefined {
  const token = (params as { _meta?: { progressToken?: unknown } } | null | undefined)?._meta?.progressToken;
  const named = Object.entries({ id, progressToken: token });
  const [tooLong] =
    named.find(([, value]) => typeof value === 'string' && value.length > MAX_ID_CHARACTERS) ?? [];
  if (tooLong === undefined) return undefined;
  const message = `${tooLong} may have at most ${MAX_ID_CHARACTERS} characters.`;
  const error = { code: ProtocolErrorCode.InvalidRequest, message };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}

/**
 * The answer to a request whose params its method does not take; undefined for any other. The library would say that it failed
 * (-32603), with the text of its checker.
 */
export function refusedParams(body: Readonly<Record<string, unknown>>): Response | undefined {
  const { jsonrpc, id, method } = body;
  if (jsonrpc !== '2.0' || !isRequestNumber(id) || !isKnown(method)) return undefined;
  const { issues: [first] = [] } = SCHEMAS[method]['~standard'].validate(body);
  if (first === undefined) return undefined;
  const path = (first.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  const error = { code: ProtocolErrorCode.InvalidParams, message: `${path || 'params'}: ${first.message}` };
  return Response.json({ jsonrpc, id, error });
}

function isKnown(method: unknown): method is keyof typeof SCHEMAS {
  return typeof method === 'string' && Object.hasOwn(SCHEMAS, method);
}
