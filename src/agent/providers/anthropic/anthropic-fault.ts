import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import { WireFault } from '../wire/wire-fault.js';

/** What the SDK throws for an answer that is no success, as a fault of ours; anything else unchanged. */
export function anthropicFault(error: unknown): unknown {
  // Our own `fetch` knows better why a connection failed.
  if (error instanceof APIConnectionError) return error.cause;
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
