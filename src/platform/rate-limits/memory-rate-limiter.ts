import { BUCKET_MS, type RateDecision, RateLimiter } from './rate-limiter.port.js';

/** Far below any interval between requests, and far above the error that adding doubles collects in years of uptime. */
const ROUNDING_MS = 1e-3;

export interface MemoryRateLimiterOptions {
  /** Buckets kept at most; the default takes about 16 MB when filled. */
  readonly maxKeys?: number;
  /** Milliseconds of a clock that never steps back; all decisions use it. */
  readonly monotonicMs?: () => number;
  /** Only for converting an instant into Unix time for `resetAtMs`; may step. */
  readonly unixMs?: () => number;
}

/**
 * The limiter of a single replica: one number for each key, the time at which its bucket is full (GCRA).
 *
 * Keys live in two generations. A generation is closed when it is a second old, or earlier when it holds half of
 * `maxKeys`; the generation closed before it is then deleted. After a second without requests a bucket is full, so
 * nothing is lost. Only more than `maxKeys` / 2 different keys within one second delete buckets in use: those that were
 * not used for longest. A bucket that is used in every generation is never among them.
 */
export class MemoryRateLimiter extends RateLimiter {
  private readonly halfOfKeys: number;
  private readonly monotonicMs: () => number;
  private readonly unixMs: () => number;
  private young = new Map<string, number>();
  private old = new Map<string, number>();
  private youngSinceMs: number;

  constructor(options: MemoryRateLimiterOptions = {}) {
    super();
    this.halfOfKeys = Math.max(1, Math.floor((options.maxKeys ?? 100_000) / 2));
    this.monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.unixMs = options.unixMs ?? Date.now;
    this.youngSinceMs = this.monotonicMs();
  }

  /** Entries in memory, at most `maxKeys`; a bucket in both generations counts twice. */
  get size(): number {
    return this.young.size + this.old.size;
  }

  override consume(key: string, limitPerSecond: number): RateDecision {
    const now = this.monotonicMs();
    this.turnGenerations(now);
    const tokenMs = BUCKET_MS / limitPerSecond;
    const fullAt = Math.max(this.young.get(key) ?? this.old.get(key) ?? now, now);
    const waitMs = fullAt + tokenMs - BUCKET_MS - now;
    const allowed = waitMs <= ROUNDING_MS;
    const fullAfter = allowed ? fullAt + tokenMs : fullAt;
    this.young.set(key, fullAfter);
    return {
      allowed,
      limit: limitPerSecond,
      remaining: allowed ? Math.floor((BUCKET_MS - (fullAfter - now) + ROUNDING_MS) / tokenMs) : 0,
      resetAtMs: Math.round(this.unixMs() + fullAfter - now),
      retryAfterMs: allowed ? 0 : Math.ceil(waitMs),
    };
  }

  /** Undoes one `consume` that was allowed. @returns the limit as it was then */
  refund(key: string, limitPerSecond: number): void {
    const fullAt = this.young.get(key) ?? this.old.get(key);
    if (fullAt !== undefined) this.young.set(key, fullAt - BUCKET_MS / limitPerSecond);
  }

  private turnGenerations(now: number): void {
    const age = now - this.youngSinceMs;
    if (age < BUCKET_MS && this.young.size < this.halfOfKeys) return;
    this.old = this.young;
    this.young = new Map();
    this.youngSinceMs = now;
  }
}
