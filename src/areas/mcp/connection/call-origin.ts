import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolContext } from '../../tools/tools.api.js';

/** The user of a call that names neither a user nor a token. */
const NOBODY = 'token:';

/** On whose behalf a request goes to a tool server. */
export interface CallOrigin {
  /** The user whom the gateway vouches for; undefined for the gateway itself, which lists tools. */
  readonly user: string | undefined;
  /** The token with which the user came, sealed for them; absent when somebody else's began the turn. */
  readonly identityToken?: string;
  /** The next three are absent outside of calls: for handshakes and health checks. */
  readonly sessionId?: string;
  readonly agent?: string;
  readonly channel?: string;
}

/** What the connections know about a call. */
export type CallContext = Pick<
  ToolContext,
  'sessionId' | 'channel' | 'agent' | 'actsFor' | 'identityToken' | 'call'
>;

export const OWN_ORIGIN: CallOrigin = { user: undefined };

export function originOf(context: CallContext | undefined): CallOrigin & { readonly user: string } {
  const { actsFor: user = NOBODY, identityToken, sessionId, channel, agent = 'default' } = context ?? {};
  return {
    user,
    ...(identityToken === undefined ? {} : { identityToken }),
    ...(sessionId === undefined ? {} : { sessionId, agent }),
    ...(channel === undefined ? {} : { channel }),
  };
}

const storage = new AsyncLocalStorage<CallOrigin>();

/** Runs a call so that its requests know for whom they are made: one connection may serve several sessions. */
export function onBehalfOf<Result>(origin: CallOrigin, work: () => Result): Result {
  return storage.run(origin, work);
}

/**
 * Runs work that outlives a call, such as a connection, so that it does not count as part of the call that happened to
 * start it.
 */
export function onNobodysBehalf<Result>(work: () => Result): Result {
  return storage.exit(work);
}

/** The origin of the call that makes this request; undefined outside of calls. */
export function currentOrigin(): CallOrigin | undefined {
  return storage.getStore();
}
