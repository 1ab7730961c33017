import { OutboundFailed, OutboundRefused } from '../../platform/outbound/outbound.errors.js';

/** The platform knows us and refuses us: nothing changes until the settings do. The message holds no secret. */
export class ChannelRefused extends Error {
  override readonly name = 'ChannelRefused';
}

/** The platform cannot be spoken to at the moment. `retryAfterMs` when it said how long. The message holds no secret. */
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
 * Why a reply was not sent. `again`: it surely did not arrive and may be sent later. `unknown`: it may have arrived, so
 * sending it again could say it twice. `never`: the platform will not take it, however often it is sent.
 */
export type NotSentWhy = 'again' | 'unknown' | 'never';

/** A reply that did not get through. The message holds no secret. */
export class NotSent extends Error {
  override readonly name = 'NotSent';

  constructor(
    readonly why: NotSentWhy,
    message: string,
    /** The platform wants to be left alone for so long. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }

  /** The same where sending twice does no harm. */
  asAgain(): NotSent {
    return this.why === 'unknown' ? new NotSent('again', this.message, this.retryAfterMs) : this;
  }
}

/** Somebody else holds the lease by now: nothing was written. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor() {
    super('another replica has taken over');
  }
}

/** Nothing can be done in this conversation now; somebody looks again after `afterMs`. */
export class RetryLater extends Error {
  override readonly name = 'LookLater';

  constructor(
    reason: string,
    readonly afterMs: number,
  ) {
    super(reason);
  }
}

/** The connection was never made, or nothing was asked of it. */
const NEVER_LEFT = new Set(['connection_refused', 'name_not_resolved', 'unreachable', 'tls', 'not_http']);

/** Whose calls they are, and what people call the address that is called. */
interface Platform {
  readonly name: string;
  readonly address: string;
}

/** A call that brought no answer, as the supervisor understands it. */
export function unansweredCall({ name, address }: Platform, cause: unknown): Error {
  if (cause instanceof OutboundRefused) return new ChannelRefused(`${address} ${cause.message}`);
  return new ChannelUnreachable(`${name} cannot be reached: ${wordsOf(cause)}`);
}

/** A call that brought no answer, as the outbox understands it. */
export function unansweredSend({ name, address }: Platform, cause: unknown): NotSent {
  if (cause instanceof OutboundRefused) return new NotSent('again', `${address} ${cause.message}`);
  const left = !(cause instanceof OutboundFailed && NEVER_LEFT.has(cause.reason));
  return new NotSent(left ? 'unknown' : 'again', `${name} did not answer: ${wordsOf(cause)}`);
}

function wordsOf(cause: unknown): string {
  return cause instanceof OutboundFailed ? cause.reasonText : 'the answer is not understood';
}
