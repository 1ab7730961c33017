import { Poller } from './poller.js';
import { withDeadline } from './with-deadline.js';

export interface LeaseKeeperOptions<Held> {
  /** How long a lease lasts that is not renewed, in milliseconds. Renewals come every third of it. */
  readonly leaseMs: number;
  /** What this process holds at this moment. A key with another `Held` is another lease. */
  held(): ReadonlyMap<string, Held>;
  /** Renews leases in the store. @returns the keys of those that this process still has */
  renew(held: ReadonlyMap<string, Held>): Promise<ReadonlySet<string>>;
  /** Somebody else may have this one now: work under it has to stop. Called once for each. */
  lost?(key: string, held: Held): void;
  /** Whether a lease that could not be renewed for `leaseMs` is lost; else only the store's word counts. */
  readonly isLostByTime?: boolean;
  /** Told of a renewal that failed, of the first in a row; it is tried again. */
  failed(error: unknown, leases: number): void;
}

interface Known<Held> {
  readonly held: Held;
  readonly renewedAt: number;
}

/**
 * Renews what a process holds in a store, all in one statement, for as long as it holds it: how a lease is acquired and released is
 * its owner's business. The one rule of clocks: a lease counts from the moment in which it was asked for, by the monotonic
 * clock of this process, never from the answer and never by the time of day.
 */
export class LeaseKeeper<Held> {
  private known = new Map<string, Known<Held>>();
  private lookedAt = 0;
  private readonly poller: Poller;

  constructor(private readonly options: LeaseKeeperOptions<Held>) {
    this.poller = new Poller({
      everyMs: options.leaseMs / 3,
      look: () => this.renewAll(),
      failed: (error) => options.failed(error, this.known.size),
    });
  }

  start(): void {
    this.lookedAt = performance.now();
    this.poller.start();
  }

  /** Renews no more. What is held stays held until its owner releases it, or until the leases end. */
  async stop(): Promise<void> {
    await this.poller.stop();
  }

  private async renewAll(): Promise<void> {
    const held = new Map(this.options.held());
    const askedAt = performance.now();
    // One that is seen for the first time was acquired after the last look: it counts from there, and so ends too early if at all.
    const acquiredAfter = this.lookedAt;
    this.lookedAt = askedAt;
    this.known = new Map(
      [...held].map(([key, one]) => {
        const before = this.known.get(key);
        return [key, before?.held === one ? before : { held: one, renewedAt: acquiredAfter }];
      }),
    );
    if (held.size === 0) return;
    try {
      const kept = await withDeadline(this.options.renew(held), this.options.leaseMs * (2 / 3), late);
      for (const [key, one] of held) {
        if (kept.has(key)) this.known.set(key, { held: one, renewedAt: askedAt });
        else this.lose(key, one);
      }
    } catch (error) {
      this.loseLate(performance.now());
      throw error;
    }
  }

  private loseLate(now: number): void {
    if (this.options.isLostByTime !== true) return;
    for (const [key, { held, renewedAt }] of this.known)
      if (now - renewedAt >= this.options.leaseMs) this.lose(key, held);
  }

  /** Nothing is lost that was let go of meanwhile. */
  private lose(key: string, held: Held): void {
    this.known.delete(key);
    if (this.options.held().get(key) === held) this.options.lost?.(key, held);
  }
}

/** A renewal that hangs is given up when the leases that it is for end. */
function late(): never {
  throw new Error('the store did not answer in time');
}
