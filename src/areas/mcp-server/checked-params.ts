import { ProtocolErrorCode, specTypeSchemas } from '@modelcontextprotocol/server';
import { isRequestNumber } from './call-ids.js';

/** Of calls of tools the library itself says what is wrong. */
const SCHEMAS = {
  initialize: specTypeSchemas.InitializeRequest,
  ping: specTypeSchemas.PingRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
} as const;

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
