import { APIConnectionError, APIError } from 'openai';
import { WireFault } from '../wire/wire-fault.js';

/** What the SDK throws for an answer that is no success, as a fault of ours; anything else unchanged. */
export function openAiFault(error: unknown): unknown {
  // Our own `fetch` knows better why a connection failed.
  if (error instanceof APIConnectionError) return error.cause;
  if (!(error instanceof APIError)) return error;
  const { status, headers, code, type, error: body } = error as APIError;
  if (status === undefined) return error;
  return new WireFault({
    kind: 'status',
    status,
    headers,
    word: code ?? type,
    sentence: sentenceOf(body),
  });
}

function sentenceOf(body: unknown): string | undefined {
  const hasMessage = typeof body === 'object' && body !== null && 'message' in body;
  return hasMessage && typeof body.message === 'string' ? body.message : undefined;
}
