import type { Logger } from '../logging/logger.js';
import { MemoryRateLimiter } from './memory-rate-limiter.js';
import type { BucketGrant, BucketRequest } from './rate-bucket.store.js';
import { BUCKET_MS, type RateDecision, RateLimiter } from './rate-limiter.port.js';

/** How many buckets one statement asks for; the next one takes the rest. */
const MAX_AT_ONCE = 500;
/** After a failure the database is not asked for this long. */
const UNREACHABLE_MS = 250;
const ROUNDING_MS = 1e-3;

/** The store of the buckets. */
export interface SharedBuckets {
  consume(requests: readonly BucketRequest[]): Promise<Map<string, BucketGrant>>;
}

interface Waiting {
  readonly limit: number;
  readonly answer: ((decision: RateDecision) => void)[];
}

/**
 * The limiter of several replicas: buckets are rows, which refill by the database's clock.
 *
 * One statement at a time is under way; requests that arrive meanwhile share the next one. So a request costs at most
 * one statement and, under load, a small part of one. An empty bucket stays empty until its next token is due, and
 * refusals until then need no statement. While the database cannot be asked, this replica limits on its own.
 */
export class SharedRateLimiter extends RateLimiter {
  private readonly alone: MemoryRateLimiter;
  private readonly refused: RefusedKeys;
  private waiting = new Map<string, Waiting>();
  private asking = false;
  private aloneUntil = Number.NEGATIVE_INFINITY;
  private isAlone = false;

  constructor(
    private readonly buckets: SharedBuckets,
    private readonly logger: Logger,
    private readonly monotonicMs: () => number = () => performance.now(),
    private readonly unixMs: () => number = Date.now,
  ) {
    super();
    this.alone = new MemoryRateLimiter({ monotonicMs, unixMs });
    this.refused = new RefusedKeys(monotonicMs, unixMs);
  }

  override consume(key: string, limitPerSecond: number): RateDecision | Promise<RateDecision> {
    const refusal = this.refused.stillRefused(key, limitPerSecond);
    if (refusal !== undefined) return refusal;
    if (this.isAlone && (this.asking || this.monotonicMs() < this.aloneUntil))
      return this.alone.consume(key, limitPerSecond);
    return new Promise((resolve) => {
      const waiting = this.waiting.get(key) ?? { limit: limitPerSecond, answer: [] };
      waiting.answer.push(resolve);
      this.waiting.set(key, waiting);
      if (!this.asking) void this.askWhileSomeWait();
    });
  }

  private async askWhileSomeWait(): Promise<void> {
    this.asking = true;
    while (this.waiting.size > 0) await this.ask(this.nextBatch());
    this.asking = false;
  }

  private nextBatch(): Map<string, Waiting> {
    const all = this.waiting;
    if (all.size <= MAX_AT_ONCE) {
      this.waiting = new Map();
      return all;
    }
    const batch = new Map([...all].slice(0, MAX_AT_ONCE));
    for (const key of batch.keys()) all.delete(key);
    return batch;
  }

  private async ask(batch: ReadonlyMap<string, Waiting>): Promise<void> {
    const requests = [...batch].map(([key, { limit, answer }]) => ({
      key,
      limitPerSecond: limit,
      tokens: answer.length,
    }));
    const askedAt = this.monotonicMs();
    try {
      const grants = await this.buckets.consume(requests);
      this.back();
      for (const [key, waiting] of batch) this.answer(key, waiting, grants.get(key), askedAt);
    } catch (error) {
      this.away(error);
      // Requests that arrived meanwhile must not wait for the same failure.
      for (const [key, waiting] of [...batch, ...this.waiting]) this.answerAlone(key, waiting);
      this.waiting.clear();
    }
  }

  private answer(key: string, waiting: Waiting, grant: BucketGrant | undefined, askedAt: number): void {
    if (grant === undefined) {
      this.answerAlone(key, waiting);
      return;
    }
    const { limit, answer } = waiting;
    const tokenMs = BUCKET_MS / limit;
    answer.forEach((resolve, index) => {
      const after = grant.granted - 1 - index;
      if (after < 0) resolve(this.refused.refuse(key, limit, grant.fullInMs, askedAt));
      else resolve(this.allowed(limit, tokenMs, Math.max(0, grant.fullInMs - after * tokenMs)));
    });
  }

  private allowed(limit: number, tokenMs: number, fullInMs: number): RateDecision {
    return {
      allowed: true,
      limit,
      remaining: Math.max(0, Math.floor((BUCKET_MS - fullInMs + ROUNDING_MS) / tokenMs)),
      resetAtMs: Math.round(this.unixMs() + fullInMs),
      retryAfterMs: 0,
    };
  }

  private answerAlone(key: string, { limit, answer }: Waiting): void {
    for (const resolve of answer) resolve(this.alone.consume(key, limit));
  }

  private away(error: unknown): void {
    this.aloneUntil = this.monotonicMs() + UNREACHABLE_MS;
    if (this.isAlone) return;
    this.isAlone = true;
    this.logger.warn('the shared rate limits cannot be read: this replica limits on its own', {
      reason: String(error),
    });
  }

  private back(): void {
    if (!this.isAlone) return;
    this.isAlone = false;
    this.logger.info('the rate limits are shared with the other replicas again');
  }
}

const MAX_KEYS = 10_000;

interface Refused {
  readonly limit: number;
  /** On the monotonic clock. */
  readonly nextTokenAt: number;
  readonly fullAt: number;
}

/** Buckets that are known to be empty, each until its next token is due. */
class RefusedKeys {
  private readonly keys = new Map<string, Refused>();

  constructor(
    private readonly monotonicMs: () => number,
    private readonly unixMs: () => number,
  ) {}

  /**
   * Refuses, and remembers that. `askedAt` is the moment before the question, so the bucket is full at the latest when
   * this assumes it.
   */
  refuse(key: string, limit: number, fullInMs: number, askedAt: number): RateDecision {
    const fullAt = askedAt + fullInMs;
    const nextTokenAt = fullAt + BUCKET_MS / limit - BUCKET_MS;
    if (this.keys.size >= MAX_KEYS) this.keys.clear();
    const refused = { limit, nextTokenAt, fullAt };
    this.keys.set(key, refused);
    return this.decision(refused, this.monotonicMs());
  }

  /** The refusal, while it holds. For another limit the bucket has to be asked again. */
  stillRefused(key: string, limit: number): RateDecision | undefined {
    const refused = this.keys.get(key);
    if (refused === undefined) return undefined;
    const now = this.monotonicMs();
    if (refused.limit === limit && now < refused.nextTokenAt) return this.decision(refused, now);
    this.keys.delete(key);
    return undefined;
  }

  private decision({ limit, nextTokenAt, fullAt }: Refused, now: number): RateDecision {
    return {
      allowed: false,
      limit,
      remaining: 0,
      resetAtMs: Math.round(this.unixMs() + fullAt - now),
      retryAfterMs: Math.max(1, Math.ceil(nextTokenAt - now)),
    };
  }
}
