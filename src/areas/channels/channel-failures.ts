import { OutboundFailed, OutboundRefused } from '../../platform/outbound/outbound.errors.js';

/** The platform refuses the credentials, which is final until the settings change. The message contains no secret. */
export class ChannelRefused extends Error {
  override readonly name = 'ChannelRefused';
}

/** The platform cannot be reached right now. `retryAfterMs` is set if it said for how long. The message contains no secret. */
export class ChannelUnreachable extends Error {
  override readonly name = 'ChannelUnreachable';

  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/**
 * Why a reply was not sent. `retry`: it did not arrive and can be sent later. `unknown`: it may have arrived, so another
 * attempt could repeat it. `rejected`: the platform will not accept it, however often it is sent.
 */
export type NotSentKind = 'retry' | 'unknown' | 'rejected';

/** A reply could not be sent. The message contains no secret. */
export class NotSent extends Error {
  override readonly name = 'NotSent';

  constructor(
    readonly why: NotSentKind,
    message: string,
    /** How long the platform asks us to wait. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }

  /** The same failure for a call that may safely be repeated. */
  asRetryable(): NotSent {
    return this.why === 'unknown' ? new NotSent('retry', this.message, this.retryAfterMs) : this;
  }
}

/** A file that someone sent cannot be fetched. The message ends a sentence for people, such as "it is too large". */
export class FileNotHad extends Error {
  override readonly name = 'FileNotHad';

  constructor(
    /** `later`: another attempt may succeed. `never`: it will not. */
    readonly why: 'later' | 'never',
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** Another replica holds the lease: nothing was written. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor() {
    super('another replica has taken over');
  }
}

/** Nothing can be done in this conversation now; it is claimed again after `afterMs`. */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';

  constructor(
    reason: string,
    readonly afterMs: number,
    /** False for a wait that is as it should be. */
    readonly isFailure = true,
  ) {
    super(reason);
  }
}

/** No connection was made, or no request left. */
const NEVER_LEFT = new Set(['connection_refused', 'name_not_resolved', 'unreachable', 'tls', 'not_http']);

/** The platform's name, and what its address is called in sentences for operators. */
interface Platform {
  readonly name: string;
  readonly address: string;
}

/** Why a call got no response, for the supervisor. */
export function connectionFailureOf({ name, address }: Platform, cause: unknown): Error {
  if (cause instanceof OutboundRefused) return new ChannelRefused(`${address} ${cause.message}`);
  return new ChannelUnreachable(`${name} cannot be reached: ${reasonOf(cause)}`);
}

/** Why a call got no response, for the outbox. */
export function sendFailureOf({ name, address }: Platform, cause: unknown): NotSent {
  if (cause instanceof OutboundRefused) return new NotSent('retry', `${address} ${cause.message}`);
  const left = !(cause instanceof OutboundFailed && NEVER_LEFT.has(cause.reason));
  return new NotSent(left ? 'unknown' : 'retry', `${name} did not answer: ${reasonOf(cause)}`);
}

function reasonOf(cause: unknown): string {
  return cause instanceof OutboundFailed ? cause.reasonText : 'the response is not understood';
}
