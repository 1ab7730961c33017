/**
 * A bucket holds one second of its limit: after this long without a request it is full, like one that was never used.
 */
export const BUCKET_MS = 1000;

/** The answer to one request for a token of a bucket. */
export interface RateDecision {
  readonly allowed: boolean;
  /** The limit asked with: tokens per second, and the size of the bucket. */
  readonly limit: number;
  /** Whole requests that would be allowed at this moment, after this one. */
  readonly remaining: number;
  /** Unix milliseconds at which the bucket is full again. */
  readonly resetAtMs: number;
  /** Milliseconds, rounded up, until a request would be allowed; 0 when this one was. */
  readonly retryAfterMs: number;
}

/**
 * A token bucket for each key. Its burst equals its limit, and it refills continuously (docs/specification/silences.md,
 * Rate limits).
 */
export abstract class RateLimiter {
  /**
   * Takes one token; a refusal takes none. `limitPerSecond` is at least 1 and may differ from call to call: what is
   * kept is the time until the bucket is full. An adapter that can answer at once does so without a promise.
   */
  abstract consume(key: string, limitPerSecond: number): RateDecision | Promise<RateDecision>;
}
