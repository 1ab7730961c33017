import type { Request } from 'express';
import type { GatewayError } from '../common/errors/gateway-error.js';
import type { Caller } from '../platform/tokens/caller.js';
import type { PresentedKey } from './idempotency/key.store.js';
import type { KeyOutcome } from './idempotency/key-metrics.js';
import type { RequestKey } from './idempotency/request-key.js';
import type { ListenerId } from './profiles/profile.js';

/** A request as it is after the listener stamped it; the guards fill in the rest on its way. */
export interface GatewayRequest extends Request {
  profile: ListenerId;
  requestId: string;
  receivedAt: number;
  /** Set by the listener when the path cannot be served as it is; thrown once the caller is known. */
  refusal?: Error;
  /** Set by `BearerGuard`; absent on open routes. */
  caller?: Caller;
  /** Set by `JsonBodyGuard` for a request with an Idempotency-Key: SHA-256 of its bytes. */
  bodyHash?: string;
  /** Set by `IdempotencyGuard`, as are the next three. */
  presentedKey?: PresentedKey;
  /** For routes that keep their answer themselves. */
  key?: RequestKey;
  keyOutcome?: KeyOutcome;
  /** For all others: to be told of an error before it is answered. Never rejects. */
  claim?: { failed(error: GatewayError): Promise<void> };
}

/** The template of the route that takes the request; undefined for a path that none takes. */
export function routeOf(request: GatewayRequest): string | undefined {
  const route = request.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' && !route.path.includes('*') ? route.path : undefined;
}

/** The same for logs and metrics: whatever was asked for must not become a label. */
export function routeLabel(request: GatewayRequest): string {
  return routeOf(request) ?? 'unmatched';
}
