import type { Request } from 'express';
import type { ListenerId } from '../profiles/profile.js';
import type { Caller } from '../tokens/caller.js';

/** A request as it is after the listener stamped it; the guards fill in the rest on its way. */
export interface GatewayRequest extends Request {
  profile: ListenerId;
  requestId: string;
  receivedAt: number;
  /** Set by the listener when the path cannot be served as it is; thrown once the caller is known. */
  refusal?: Error;
  /** Set by `BearerGuard`; absent on open routes. */
  caller?: Caller;
}
