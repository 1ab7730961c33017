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
