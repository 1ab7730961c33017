import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolContext } from '../../tools/tools.api.js';

/** Who stands behind a call that names nobody: no user, and no token either. */
const NOBODY = 'token:';

/** On whose behalf a request goes to a tool server. */
export interface CallOrigin {
  /** The user whom the gateway vouches for; undefined for the gateway itself, which lists tools. */
  readonly user: string | undefined;
  /** The next three are absent outside of calls: for handshakes and health checks. */
  readonly sessionId?: string;
  readonly agent?: string;
  readonly channel?: string;
}

/** What the connections know of a call. */
export type CallContext = Pick<ToolContext, 'sessionId' | 'channel' | 'agent' | 'actsFor' | 'call'>;

export const OWN_ORIGIN: CallOrigin = { user: undefined };

export function originOf(context: CallContext | undefined): CallOrigin & { readonly user: string } {
  const { actsFor: user = NOBODY, sessionId, channel, agent = 'default' } = context ?? {};
  return {
    user,
    ...(sessionId === undefined ? {} : { sessionId, agent }),
    ...(channel === undefined ? {} : { channel }),
  };
}

const storage = new AsyncLocalStorage<CallOrigin>();

/** Runs a call so that the requests which it makes know on whose behalf: one connection may serve several sessions. */
export function onBehalfOf<Result>(origin: CallOrigin, work: () => Result): Result {
  return storage.run(origin, work);
}

/** Runs what outlives a call, such as a connection, without the call that happened to start it. */
export function onNobodysBehalf<Result>(work: () => Result): Result {
  return storage.exit(work);
}

/** Of the call that makes this request; undefined outside of calls. */
export function currentOrigin(): CallOrigin | undefined {
  return storage.getStore();
}
