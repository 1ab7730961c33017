import { Injectable } from '@nestjs/common';
import {
  ThrottlerModule,
  type ThrottlerModuleOptions,
  type ThrottlerOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import { BUCKET_MS, type RateDecision, RateLimiter } from '../../platform/rate-limits/rate-limiter.port.js';
import { RateLimitsModule } from '../../platform/rate-limits/rate-limits.module.js';
import { Settings } from '../../platform/settings/settings.js';
import type { RateTier } from './access.decorator.js';

/** The rate tiers (docs/specification/api.md, 8). */
const RATE_TIERS = Object.keys({
  sessions_write: true,
  sessions_read: true,
  config_write: true,
  other: true,
} satisfies Record<RateTier, true>) as readonly RateTier[];

/** A rate tier as `@nestjs/throttler` knows it. Its limit is read at each request: it can change while the gateway runs. */
export interface TierThrottler extends ThrottlerOptions {
  readonly name: RateTier;
  /** Requests per second and bucket. */
  readonly limit: () => number;
}

/** What `ThrottlerModule` is configured with. */
export interface RateThrottlers extends Exclude<ThrottlerModuleOptions, readonly unknown[]> {
  readonly throttlers: TierThrottler[];
  readonly storage: BucketStorage;
}

/** The buckets of the rate limiter as the storage of `@nestjs/throttler`. */
@Injectable()
export class BucketStorage implements ThrottlerStorage {
  constructor(private readonly limiter: RateLimiter) {}

  /** Takes one token of a bucket, without a promise where the limiter answers at once. */
  consume(bucket: string, { name, limit }: TierThrottler): RateDecision | Promise<RateDecision> {
    return this.limiter.consume(`${bucket}|${name}`, limit());
  }

  /** The same for the stock guard. A bucket holds one second of its limit, so `ttl` is always a second. */
  async increment(
    key: string,
    _ttl: number,
    limit: number,
    _blockDuration: number,
    name: string,
  ): ReturnType<ThrottlerStorage['increment']> {
    const decision = await this.limiter.consume(`${key}|${name}`, limit);
    return {
      totalHits: decision.limit - decision.remaining,
      timeToExpire: Math.ceil((decision.resetAtMs - Date.now()) / 1000),
      isBlocked: !decision.allowed,
      timeToBlockExpire: Math.ceil(decision.retryAfterMs / 1000),
    };
  }
}

export function rateThrottlers(limiter: RateLimiter, settings: Settings): RateThrottlers {
  const throttlers = RATE_TIERS.map((name) => ({
    name,
    ttl: BUCKET_MS,
    limit: () => settings.current.rate_limits[name],
  }));
  return { throttlers, storage: new BucketStorage(limiter) };
}

/** `@nestjs/throttler` with the tiers as named throttlers over the buckets of this replica, or of all of them. */
export const rateThrottlerModule = ThrottlerModule.forRootAsync({
  imports: [RateLimitsModule],
  inject: [RateLimiter, Settings],
  useFactory: rateThrottlers,
});
