import type { CallToolResult } from '@modelcontextprotocol/server';
import { GatewayError, InternalError } from '../../common/errors/gateway-error.js';
import { TurnHandedOver } from '../turns/turns.api.js';

const PASSING = [401, 429, 503];

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

/** What only keeps an answer from being shown here and now, such as a token that ended: the turn goes on. */
export function asHandedOver(error: unknown): unknown {
  const mayPass = error instanceof GatewayError && !isLeft(error) && PASSING.includes(error.status);
  return mayPass ? new TurnHandedOver(error.message, error) : error;
}

/** Whether nobody waits for the answer here any more; the turn goes on. */
export function isLeft(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false;
  return error instanceof CallerGone || error.details?.reason === 'turn_handed_over';
}
