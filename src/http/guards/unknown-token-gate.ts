import { Injectable } from '@nestjs/common';
import { MemoryRateLimiter } from '../../platform/rate-limits/memory-rate-limiter.js';
import { Settings } from '../../platform/settings/settings.js';
import type { LookUpGate } from '../../platform/tokens/token-directory.js';
import type { RateTier } from './access.decorator.js';
import { RateCharge } from './rate-charge.js';

/** Requests of one address group and tier that wait for look-ups at most; more are refused at once. */
export const MAX_WAITING = 500;

/** Running look-ups of one address group and tier, and the requests that wait for one of them to end. */
interface InFlight {
  count: number;
  readonly waiting: (() => void)[];
}

/**
 * Limits look-ups of tokens that this process has not seen yet: as many per second and address group as the limit of the
 * tier says; more are refused without asking the database. A valid token is not counted: requests that arrive during other
 * look-ups wait for their results, so that many valid tokens at once are let in. The count is always local to the process,
 * because a shared store would cost a statement for every unknown token.
 */
@Injectable()
export class UnknownTokenGate {
  private readonly buckets = new MemoryRateLimiter();
  private readonly inFlight = new Map<string, InFlight>();

  constructor(
    private readonly charge: RateCharge,
    private readonly settings: Settings,
  ) {}

  /** @param group of addresses, from `ClientAddress.groupOf` */
  of(group: string, tier: RateTier): LookUpGate {
    const key = `${group}|${tier}`;
    return {
      enter: () => this.enter(key, tier),
      outside: (work) => this.outside(key, work),
      leave: (isKnown) => this.leave(key, tier, isKnown),
    };
  }

  private async enter(key: string, tier: RateTier): Promise<void> {
    for (;;) {
      const decision = this.buckets.consume(key, this.settings.current.rate_limits[tier]);
      const inFlight = this.inFlight.get(key);
      if (decision.allowed) {
        this.occupy(key);
        return;
      }
      if (inFlight === undefined || inFlight.waiting.length >= MAX_WAITING)
        throw this.charge.refusal(decision, tier);
      await new Promise<void>((resolve) => inFlight.waiting.push(resolve));
    }
  }

  private leave(key: string, tier: RateTier, isKnown: boolean): void {
    if (isKnown) this.buckets.refund(key, this.settings.current.rate_limits[tier]);
    this.release(key);
  }

  private async outside<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    this.release(key);
    try {
      return await work();
    } finally {
      this.occupy(key);
    }
  }

  private occupy(key: string): void {
    const inFlight = this.inFlight.get(key);
    if (inFlight === undefined) this.inFlight.set(key, { count: 1, waiting: [] });
    else inFlight.count += 1;
  }

  private release(key: string): void {
    const inFlight = this.inFlight.get(key);
    if (inFlight === undefined) return;
    inFlight.count -= 1;
    if (inFlight.count > 0) {
      inFlight.waiting.shift()?.();
      return;
    }
    this.inFlight.delete(key);
    for (const resume of inFlight.waiting) resume();
  }
}
