import type { Response } from 'express';
import { type KeptError, RetoldError } from '../../common/errors/retold-error.js';
import type { GatewayRequest } from '../gateway-request.js';
import { KeyCutOff, KeyInUse, KeyReused } from './idempotency.errors.js';
import type { AskedKey, FoundKey, KeptAnswer } from './key.store.js';

/** Says that what follows was done before. */
export function markReplayed(request: GatewayRequest, response: Response): void {
  request.keyOutcome = 'replayed';
  response.setHeader('Idempotency-Replayed', 'true');
}

/** Throws `KeyReused` when the key belongs to another request. */
export function refuseOtherRequest(found: FoundKey, asked: AskedKey): void {
  if (found.request !== asked.request) throw new KeyReused();
}

/** Sends the answer as it was; throws the error that it was, or why there is none. */
export function tellAgain(
  found: FoundKey | undefined,
  asked: AskedKey,
  request: GatewayRequest,
  response: Response,
): void {
  // One that has just gone was given back: its request was refused.
  if (found === undefined) throw new KeyInUse();
  refuseOtherRequest(found, asked);
  const { answer, isHeld, turnId } = found;
  if (answer === null) throw isHeld || turnId !== null ? new KeyInUse() : new KeyCutOff();
  markReplayed(request, response);
  sendAgain(answer, response);
}

function sendAgain({ status, headers, body }: KeptAnswer, response: Response): void {
  if (status >= 400) throw new RetoldError(JSON.parse(body ?? '{}') as KeptError);
  for (const [name, content] of Object.entries(headers)) response.setHeader(name, content);
  response.status(status);
  if (body === null) response.send();
  else response.json(JSON.parse(body));
}
