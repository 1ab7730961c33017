import { Injectable } from '@nestjs/common';
import { Settings } from '../../../platform/settings/settings.js';
import type { TakenLimit } from '../../../platform/tokens/taken-limit.js';
import { RunningTurns } from '../running-turns.js';
import { TurnLimitReached } from './turn-limit-reached.js';

/**
 * The places for turns in this process (`limits.turns_per_replica`). A place is taken here while a turn is about to
 * begin; from then on the running turn itself is what takes it, so that it is free again however the turn ends.
 */
@Injectable()
export class TurnSlots {
  private held = 0;
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly running: RunningTurns,
    private readonly settings: Settings,
  ) {
    running.onEnd(() => this.admit());
  }

  /** Takes a place that is free; who waits comes first. */
  tryAcquire(): boolean {
    this.admit();
    return this.waiting.size === 0 && this.acquireFree();
  }

  /** Whether another message may wait for a place: as many may as there are places. */
  get hasRoomToWait(): boolean {
    return this.waiting.size < this.most;
  }

  limits(): TakenLimit[] {
    const taken = this.running.count + this.held;
    const advice = 'Raise limits.turns_per_replica, or add replicas.';
    return [{ holder: null, what: 'turns at once at this replica', taken, limit: this.most, advice }];
  }

  /** Waits for a place in the order of the calls. @returns whether it got one within `waitMs` */
  acquireWithin(waitMs: number): Promise<boolean> {
    if (this.tryAcquire()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.waiting.delete(admit);
        resolve(false);
      }, waitMs);
      this.waiting.add(admit);
    });
  }

  /** Runs `work` in a place that was taken, which stays taken only when something came of it. */
  async holdFor<Result>(work: () => Promise<Result | undefined>): Promise<Result | undefined> {
    let result: Result | undefined;
    try {
      result = await work();
      return result;
    } finally {
      if (result === undefined) this.release();
    }
  }

  /** Gives a place back: its turn runs, or will not. */
  release(): void {
    this.held -= 1;
    this.admit();
  }

  refusal(): TurnLimitReached {
    return new TurnLimitReached(
      'replica_turns',
      `This gateway process runs as many turns as it may (${this.most}). Send the message again in a moment.`,
      1,
    );
  }

  private get most(): number {
    return this.settings.current.limits.turns_per_replica;
  }

  private acquireFree(): boolean {
    const { most } = this;
    if (most > 0 && this.running.count + this.held >= most) return false;
    this.held += 1;
    return true;
  }

  private admit(): void {
    for (const admit of this.waiting) {
      if (!this.acquireFree()) return;
      this.waiting.delete(admit);
      admit();
    }
  }
}
