import { Injectable } from '@nestjs/common';
import { InjectThrottlerOptions } from '@nestjs/throttler';
import { InjectMetric, makeCounterProvider } from '@willsoto/nestjs-prometheus';
import type { Response } from 'express';
import type { Counter } from 'prom-client';
import { RateLimited } from '../../common/errors/gateway-error.js';
import type { RateDecision } from '../../platform/rate-limits/rate-limiter.port.js';
import type { RateTier } from './access.decorator.js';
import type { BucketStorage, RateThrottlers, TierThrottler } from './rate-throttlers.js';

const REFUSED = 'agent_gateway_rate_limited_total';

export const rateChargeMetricProvider = makeCounterProvider({
  name: REFUSED,
  help: 'Requests that were refused with 429, by the group of endpoints that they went to.',
  labelNames: ['tier'],
});

/**
 * Charges a request to a bucket and sets the rate headers of its response (docs/specification/api.md, 8).
 */
@Injectable()
export class RateCharge {
  private readonly storage: BucketStorage;
  private readonly tiers: ReadonlyMap<RateTier, TierThrottler>;

  constructor(
    @InjectThrottlerOptions() { storage, throttlers }: RateThrottlers,
    @InjectMetric(REFUSED) private readonly refused: Counter<'tier'>,
  ) {
    this.storage = storage;
    this.tiers = new Map(throttlers.map((throttler) => [throttler.name, throttler]));
  }

  /** Throws `RateLimited` (429, `Retry-After` in whole seconds) when the bucket is empty. */
  charge(response: Response, bucket: string, tier: RateTier): void | Promise<void> {
    const outcome = this.ask(bucket, tier);
    if (outcome instanceof Promise) return outcome.then((decision) => setHeaders(decision, response));
    setHeaders(outcome, response);
  }

  /** The decision alone, for responses written to the bare socket. */
  ask(bucket: string, tier: RateTier): RateDecision | Promise<RateDecision> {
    const outcome = this.storage.consume(bucket, this.tiers.get(tier) as TierThrottler);
    return outcome instanceof Promise
      ? outcome.then((decision) => this.counted(decision, tier))
      : this.counted(outcome, tier);
  }

  /** The error for a refusal decided outside the limiter; counted like its own. */
  refusal(decision: RateDecision, tier: RateTier): RateLimited {
    return rateLimited(this.counted(decision, tier));
  }

  private counted(decision: RateDecision, tier: RateTier): RateDecision {
    if (!decision.allowed) this.refused.inc({ tier });
    return decision;
  }
}

function setHeaders(decision: RateDecision, response: Response): void {
  const headers = rateHeaders(decision);
  for (const name in headers) response.setHeader(name, headers[name] as string);
  if (!decision.allowed) throw rateLimited(decision);
}

export function rateHeaders(decision: RateDecision): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(decision.limit),
    'X-RateLimit-Remaining': String(decision.remaining),
    'X-RateLimit-Reset': String(Math.ceil(decision.resetAtMs / 1000)),
  };
}

export function rateLimited(decision: RateDecision): RateLimited {
  const retryAfterSecs = Math.max(1, Math.ceil(decision.retryAfterMs / 1000));
  return new RateLimited(
    `Too many requests: this group of endpoints allows ${decision.limit} per second. Try again in ${retryAfterSecs} s.`,
    { retryAfterSecs, headers: rateHeaders(decision) },
  );
}
