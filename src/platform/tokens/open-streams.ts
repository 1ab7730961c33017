import { stackOf } from '../../common/errors/error-text.js';
import { RateLimited, Unavailable } from '../../common/errors/gateway-error.js';
import type { Logger } from '../logging/logger.js';
import type { EventStream } from '../runtime/event-stream.js';
import { Poller } from '../runtime/poller.js';
import type { GatewaySettings } from '../settings/settings.schema.js';
import type { TakenLimit } from './taken-limit.js';
import { shareOfStreams, type TokenHolder } from './token-shares.js';

const SWEEP_MS = 250;
/** Together with the token cache (0.5 s) and a sweep, a stream whose token was revoked is cut within 1.5 s. */
const ASK_TOKEN_MS = 500;
const RETRY_AFTER_SECS = 10;
const CLOSE_SOME =
  'Its readers should close what they no longer read; else raise limits.streams_per_api_token.';
/** Readers come back at different times, so that they do not all reach the next replica at once. */
const RETRY_MS = 1000;
const RETRY_SPREAD_MS = 2000;

/** The current settings of one kind of streams. */
export interface StreamTerms {
  /** How many may be open in this process. */
  readonly most: number;
  /** How long the reader of a stream may take nothing before the stream is cut. */
  readonly stallMs: number;
  /** The interval of heartbeats. */
  readonly beatMs: number;
  readonly limits: GatewaySettings['limits'];
}

export interface OpenStreamsOptions {
  /** For refusals: "There are 100 open <name>, and ...". */
  readonly name: string;
  /** `details.reason` when there are too many. */
  readonly reason: string;
  /** Advice for operators when there are too many: a sentence. */
  readonly advice: string;
  terms(): StreamTerms;
  readonly logger: Logger;
  /** Called for each stream that was cut because its reader took nothing, with the number of open streams. */
  stalled(open: number): void;
}

interface Kept {
  readonly mayGoOn: () => Promise<boolean>;
  beatAt: number;
  askedAt: number;
}

/** A reserved place that has no stream yet. */
export interface StreamPlace<S> {
  /**
   * Puts a stream in the place, until it ends.
   * @param mayGoOn whether its token may still read; checked twice a second
   */
  keep(stream: S, mayGoOn: () => Promise<boolean>): void;
  /** Releases the place without a stream. */
  leave(): void;
}

/**
 * The open streams of one kind in this process. Limits their number, also for each token, keeps them alive, and ends
 * them.
 */
export class OpenStreams<S extends EventStream> {
  private readonly streams = new Map<S, Kept>();
  private readonly byToken = new Map<string, { readonly tokenName: string; count: number }>();
  private taken = 0;
  private readonly poller = new Poller({
    everyMs: SWEEP_MS,
    look: () => this.sweep(),
    failed: (error) =>
      this.options.logger.error(`open ${this.options.name} could not be checked`, {
        error: stackOf(error),
      }),
  });
  private hasEnded = false;

  constructor(private readonly options: OpenStreamsOptions) {}

  get count(): number {
    return this.streams.size;
  }

  get all(): readonly S[] {
    return [...this.streams.keys()];
  }

  /** Throws `Unavailable` (503) when there are too many, and `RateLimited` (429) when the token has used its share. */
  refuseTooMany(caller: TokenHolder): void {
    const { name, reason } = this.options;
    const { most, limits } = this.options.terms();
    if (this.taken >= most) {
      throw new Unavailable(`There are ${most} open ${name}, and no more are served here.`, {
        retryAfterSecs: RETRY_AFTER_SECS,
        details: { reason },
      });
    }
    const share = shareOfStreams(limits, caller, most);
    if ((this.byToken.get(caller.tokenId)?.count ?? 0) < share) return;
    throw new RateLimited(
      `This API token has its share of ${share} open ${name} here (limits.streams_per_api_token). Close one first.`,
      { retryAfterSecs: RETRY_AFTER_SECS, details: { reason: 'api_token_streams' } },
    );
  }

  /** How many are open in this process, together and for each token. */
  limits(): TakenLimit[] {
    const { most, limits } = this.options.terms();
    const what = `${this.options.name} at this replica`;
    const ofAll = { holder: null, what, taken: this.taken, limit: most, advice: this.options.advice };
    const ofTokens = [...this.byToken].map(([tokenId, { tokenName, count }]) => ({
      ...{ holder: tokenName, what, taken: count, advice: CLOSE_SOME },
      limit: shareOfStreams(limits, { tokenId, tokenName }, most),
    }));
    return [ofAll, ...ofTokens];
  }

  /** Reserves a place whether or not one is free; call `refuseTooMany` first. */
  take(holder: TokenHolder): StreamPlace<S> {
    this.tally(holder, 1);
    let isTaken = true;
    const leave = (): void => {
      if (isTaken) this.tally(holder, -1);
      isTaken = false;
    };
    return { keep: (stream, mayGoOn) => this.keep(stream, mayGoOn, leave), leave };
  }

  /** Ends all streams, and every later one, and tells their readers when to come back. */
  endAll(): void {
    this.hasEnded = true;
    for (const stream of this.all) stream.close(retryMs());
  }

  /** Ends all streams, even those that still show something. */
  stop(): void {
    this.hasEnded = true;
    void this.poller.stop();
    for (const stream of this.all) stream.cut('stalled');
  }

  private keep(stream: S, mayGoOn: () => Promise<boolean>, leave: () => void): void {
    const now = performance.now();
    this.streams.set(stream, { mayGoOn, beatAt: now, askedAt: now });
    this.poller.start(SWEEP_MS);
    stream.onEnd(() => {
      leave();
      this.streams.delete(stream);
      if (this.streams.size === 0) void this.poller.stop();
    });
    // The reader is first shown what it came for.
    if (this.hasEnded) setImmediate(() => stream.close(retryMs()));
  }

  private tally({ tokenId, tokenName }: TokenHolder, by: 1 | -1): void {
    this.taken += by;
    const kept = this.byToken.get(tokenId) ?? { tokenName, count: 0 };
    kept.count += by;
    if (kept.count === 0) this.byToken.delete(tokenId);
    else this.byToken.set(tokenId, kept);
  }

  private sweep(): void {
    const { stallMs, beatMs } = this.options.terms();
    const now = performance.now();
    for (const [stream, kept] of this.streams) {
      if (stream.stalledMs() > stallMs) {
        this.options.stalled(this.streams.size);
        stream.cut('stalled');
        continue;
      }
      if (now - kept.beatAt > beatMs) {
        kept.beatAt = now;
        stream.heartbeat();
      }
      if (now - kept.askedAt > ASK_TOKEN_MS) {
        kept.askedAt = now;
        void cutWhenForbidden(stream, kept.mayGoOn);
      }
    }
  }
}

/** If the token cannot be checked, the stream stays: without the database there is nothing new to read. */
async function cutWhenForbidden(stream: EventStream, mayGoOn: () => Promise<boolean>): Promise<void> {
  if (!(await mayGoOn().catch(() => true))) stream.cut('forbidden');
}

/** How many milliseconds a reader should wait before it comes back. */
export function retryMs(): number {
  return Math.round(RETRY_MS + Math.random() * RETRY_SPREAD_MS);
}
