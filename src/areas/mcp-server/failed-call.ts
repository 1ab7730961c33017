import type { CallToolResult } from '@modelcontextprotocol/server';
import { GatewayError, InternalError } from '../../common/errors/gateway-error.js';

export class CallerGone extends InternalError {
  constructor() {
    super('Nobody waits for this answer.');
  }
}

/** A failure as the result of a call. Rethrows what cannot be a result. */
export function failed(error: unknown, sessionId?: string): CallToolResult {
  if (!(error instanceof GatewayError) || isLeft(error)) throw error;
  const where = sessionId === undefined ? '' : ` The session is ${sessionId}.`;
  const { code, message, details } = error;
  return {
    content: [{ type: 'text', text: `${message}${where}` }],
    isError: true,
    _meta: { 'agent-gateway/error': { code, details } },
  };
}

/** Whether the same request may succeed later, or with another token. */
export function mayPass(error: unknown): boolean {
  return !(error instanceof GatewayError) || error.status >= 500 || [401, 429].includes(error.status);
}

function isLeft(error: GatewayError): boolean {
  return error instanceof CallerGone || error.details?.reason === 'turn_handed_over';
}
