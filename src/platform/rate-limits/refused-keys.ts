import { BUCKET_MS, type RateDecision } from './rate-limiter.port.js';

const MAX_KEYS = 10_000;

interface Refused {
  readonly limit: number;
  /** On the monotonic clock. */
  readonly nextTokenAt: number;
  readonly fullAt: number;
}

/** Buckets that are known to be empty, each until its next token is due. */
export class RefusedKeys {
  private readonly keys = new Map<string, Refused>();

  constructor(
    private readonly monotonicMs: () => number,
    private readonly unixMs: () => number,
  ) {}

  /** Refuses, and remembers it. Asked at that moment the bucket would be full after so long; never later than it is. */
  refuse(key: string, limit: number, fullInMs: number, askedAt: number): RateDecision {
    const fullAt = askedAt + fullInMs;
    const nextTokenAt = fullAt + BUCKET_MS / limit - BUCKET_MS;
    if (this.keys.size >= MAX_KEYS) this.keys.clear();
    const refused = { limit, nextTokenAt, fullAt };
    this.keys.set(key, refused);
    return this.decision(refused, this.monotonicMs());
  }

  /** The refusal, while it holds. With another limit the bucket has to be asked again. */
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
