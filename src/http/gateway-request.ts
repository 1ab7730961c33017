import type { Request } from 'express';
import type { HeldBytes } from '../common/bytes/held-bytes.js';
import type { GatewayError } from '../common/errors/gateway-error.js';
import type { Caller } from '../platform/tokens/caller.js';
import type { KeyOutcome, PresentedKey } from './idempotency/key.store.js';
import type { RequestKey } from './idempotency/request-key.js';
import type { FaceId } from './profiles/faces.js';
import type { ListenerId } from './profiles/profile.js';

/** A request after the listener has stamped it; the guards fill in the rest. */
export interface GatewayRequest extends Request {
  profile: ListenerId;
  /** Set by the listener for a URL that is no profile's own. */
  face?: FaceId | undefined;
  requestId: string;
  receivedAt: number;
  /** Set by the listener when the path cannot be served as it is; thrown once the caller is known. */
  refusal?: Error;
  /** Set by `BearerGuard`; absent on open routes. */
  caller?: Caller;
  /** Set by `JsonBodyGuard` for a request with an Idempotency-Key: SHA-256 of its bytes. */
  bodyHash?: string;
  /** Set by `JsonBodyGuard`: the memory that its body takes, freed with the response unless `withHeldBody` takes it. */
  held?: HeldBytes | undefined;
  /** Set by `IdempotencyGuard`, as are the next three. */
  presentedKey?: PresentedKey;
  /** For routes that store their response themselves. */
  key?: RequestKey;
  keyOutcome?: KeyOutcome;
  /** For all others: called with an error before the response is sent. Never rejects. */
  claim?: { failed(error: GatewayError): Promise<void> };
}

/** The template of the route that serves the request; undefined when no route does. */
export function routeOf(request: GatewayRequest): string | undefined {
  const route = request.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' && !route.path.includes('*') ? route.path : undefined;
}

/** The same for logs and metrics, where a requested path must never become a label. */
export function routeLabel(request: GatewayRequest): string {
  return routeOf(request) ?? 'unmatched';
}
