import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import { networkCode } from '../wire/network-code.js';
import { WireFault } from '../wire/wire-fault.js';

/** What the SDK throws for an answer that is no success, as a fault of ours; anything else unchanged. */
export function anthropicFault(error: unknown): unknown {
  if (error instanceof APIConnectionError) {
    return new WireFault({ kind: 'network', code: networkCode(error.cause) });
  }
  if (!(error instanceof APIError)) return error;
  const { status, headers, type, apiMessage } = error as APIError;
  if (status === undefined) return error;
  return new WireFault({
    kind: 'status',
    status,
    headers,
    word: type ?? undefined,
    sentence: apiMessage ?? undefined,
  });
}
