import type { Response } from 'express';
import { ReplayedError, type StoredError } from '../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../gateway-request.js';
import { KeyInterrupted, KeyInUse, KeyReused } from './idempotency.errors.js';
import type { FoundKey, PresentedKey, StoredResponse } from './key.store.js';

/** Marks the response as a replay. */
export function markReplayed(request: GatewayRequest, response: Response): void {
  request.keyOutcome = 'replayed';
  response.setHeader('Idempotency-Replayed', 'true');
}

/** Throws `KeyReused` when the key belongs to another request. */
export function refuseOtherRequest(found: FoundKey, asked: PresentedKey): void {
  if (found.request !== asked.request) throw new KeyReused();
}

/** Sends the stored response; throws the stored error, or the reason why nothing is stored. */
export function replayResponse(
  found: FoundKey | undefined,
  asked: PresentedKey,
  request: GatewayRequest,
  response: Response,
): void {
  // A key that has just gone was released because its request was refused.
  if (found === undefined) throw new KeyInUse();
  refuseOtherRequest(found, asked);
  const { answer, isHeld, turnId } = found;
  if (answer === null) throw isHeld || turnId !== null ? new KeyInUse() : new KeyInterrupted();
  markReplayed(request, response);
  sendStoredResponse(answer, response);
}

/** A text is an answer that was no JSON, such as the events of a stream. */
function sendJson(content: unknown, response: Response): void {
  if (typeof content === 'string') response.send(content);
  else response.json(content);
}

function sendStoredResponse({ status, headers, body }: StoredResponse, response: Response): void {
  if (status >= 400) throw new ReplayedError(JSON.parse(body ?? '{}') as StoredError);
  for (const [name, content] of Object.entries(headers)) response.setHeader(name, content);
  response.status(status);
  if (body === null) response.send();
  else sendJson(JSON.parse(body), response);
}
