import { createHash } from 'node:crypto';
import { familyOf } from '../../platform/tokens/caller.js';
import { type GatewayRequest, routeOf } from '../gateway-request.js';
import { BadIdempotencyKey } from './idempotency.errors.js';
import type { PresentedKey } from './key.store.js';

export const IDEMPOTENCY_KEY = 'idempotency-key';

const METHODS: ReadonlySet<string> = new Set(['POST', 'PATCH']);
const KEY = /^[\x21-\x7e]{1,255}$/;
const NO_BODY = createHash('sha256').digest('hex');

/** Undefined without the header, and where it has no meaning. @throws BadIdempotencyKey when malformed */
export function presentedKey(request: GatewayRequest): PresentedKey | undefined {
  const sent = request.headers[IDEMPOTENCY_KEY];
  if (sent === undefined || !METHODS.has(request.method)) return undefined;
  const route = routeOf(request);
  if (route === undefined || request.caller === undefined) return undefined;
  if (typeof sent !== 'string' || !KEY.test(sent)) throw new BadIdempotencyKey();
  const { tokenId } = request.caller;
  // A rotated token shares the keys of the one it replaced.
  const family = familyOf(request.caller);
  const { method, params, profile, bodyHash = NO_BODY } = request;
  // From template and parameters, so that all spellings of a path give the same key.
  const path = [route, JSON.stringify(params)];
  const query = new URL(request.originalUrl, 'http://gateway').search;
  return {
    scope: hash([family, method, ...path, sent]),
    tokenId,
    operation: `${method} ${route}`,
    request: hash([profile, query, bodyHash]),
  };
}

function hash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
