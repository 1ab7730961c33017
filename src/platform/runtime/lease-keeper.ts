import { Poller } from './poller.js';
import { withDeadline } from './with-deadline.js';

export interface LeaseKeeperOptions<Held> {
  /** How long a lease lasts without a renewal, in milliseconds. Renewals come three times as often. */
  readonly leaseMs: number;
  /** What this process holds now. A key with another `Held` is another lease. */
  held(): ReadonlyMap<string, Held>;
  /** Renews leases in the store. @returns the keys of those that this process still holds */
  renew(held: ReadonlyMap<string, Held>): Promise<ReadonlySet<string>>;
  /** Another process may hold this lease now, so work under it has to stop. Called once for each lost lease. */
  lost?(key: string, held: Held): void;
  /** Whether a lease that could not be renewed for `leaseMs` is lost. Otherwise only the store decides that. */
  readonly isLostByTime?: boolean;
  /** Called for a failed renewal, but only for the first in a row; the renewal is tried again. */
  failed(error: unknown, leases: number): void;
}

interface Known<Held> {
  readonly held: Held;
  readonly renewedAt: number;
}

/**
 * Renews what a process holds in a store, in one statement for all leases, for as long as the process holds it.
 * Acquiring and releasing a lease is up to its owner. There is one rule of clocks: a lease counts from the moment when
 * it was requested, by the monotonic clock of this process, never from the response and never by the time of day.
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

  /** Stops renewing. Leases stay held until their owner releases them, or until they expire. */
  async stop(): Promise<void> {
    await this.poller.stop();
  }

  private async renewAll(): Promise<void> {
    const held = new Map(this.options.held());
    const askedAt = performance.now();
    // A lease that is seen for the first time was acquired after the last look. Counting it from there ends it too
    // early, if anything.
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

  /** Leases that were released meanwhile are not lost. */
  private lose(key: string, held: Held): void {
    this.known.delete(key);
    if (this.options.held().get(key) === held) this.options.lost?.(key, held);
  }
}

/** A renewal that hangs is given up when its leases expire. */
function late(): never {
  throw new Error('the store did not answer in time');
}
