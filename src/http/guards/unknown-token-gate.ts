import { Injectable } from '@nestjs/common';
import { MemoryRateLimiter } from '../../platform/rate-limits/memory-rate-limiter.js';
import { Settings } from '../../platform/settings/settings.js';
import type { LookUpGate } from '../../platform/tokens/look-up-gate.js';
import type { RateTier } from './access.decorator.js';
import { RateCharge } from './rate-charge.js';

/** Look-ups of one address group and tier that are on their way, and who waits for one of them to end. */
interface InFlight {
  count: number;
  readonly waiting: (() => void)[];
}

/**
 * Lets tokens that nobody here has seen yet be looked up, as many per second and address group as the limit of the tier says;
 * beyond that they are refused without asking the database. A token that turns out to be one takes nothing: whoever comes
 * while others' are looked up waits for what they turn out to be, so that many good tokens at once are let in. In this
 * process alone, whatever store the other limits have: asking that one would be a statement for every stranger.
 */
@Injectable()
export class UnknownTokenGate {
  private readonly buckets = new MemoryRateLimiter();
  private readonly inFlight = new Map<string, InFlight>();

  constructor(
    private readonly charge: RateCharge,
    private readonly settings: Settings,
  ) {}

  /** @param group of addresses, as `ClientAddress.groupOf` says it */
  of(group: string, tier: RateTier): LookUpGate {
    const key = `${group}|${tier}`;
    return { enter: () => this.enter(key, tier), leave: (isKnown) => this.leave(key, tier, isKnown) };
  }

  private async enter(key: string, tier: RateTier): Promise<void> {
    for (;;) {
      const decision = this.buckets.consume(key, this.settings.current.rate_limits[tier]);
      const inFlight = this.inFlight.get(key);
      if (decision.allowed) {
        if (inFlight === undefined) this.inFlight.set(key, { count: 1, waiting: [] });
        else inFlight.count += 1;
        return;
      }
      if (inFlight === undefined) throw this.charge.refusal(decision, tier);
      await new Promise<void>((resolve) => inFlight.waiting.push(resolve));
    }
  }

  private leave(key: string, tier: RateTier, isKnown: boolean): void {
    if (isKnown) this.buckets.refund(key, this.settings.current.rate_limits[tier]);
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
