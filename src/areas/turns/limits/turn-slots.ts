import { Injectable } from '@nestjs/common';
import { Settings } from '../../../platform/settings/settings.js';
import type { TakenLimit } from '../../../platform/tokens/taken-limit.js';
import { RunningTurns } from '../running-turns.js';
import { TurnLimitReached } from './turn-limit-reached.js';

/**
 * The slots for turns in this process (`limits.turns_per_replica`). A slot is taken here while a turn is about to
 * begin. From then on the running turn itself occupies the slot, so that it becomes free however the turn ends.
 */
@Injectable()
export class TurnSlots {
  private held = 0;
  private readonly waiting = new Set<() => void>();
  private readonly onNoneBegins: (() => void)[] = [];

  constructor(
    private readonly running: RunningTurns,
    private readonly settings: Settings,
  ) {
    running.onEnd(() => this.admit());
  }

  /** Takes a free slot; those who already wait come first. */
  tryAcquire(): boolean {
    this.admit();
    return this.waiting.size === 0 && this.acquireFree();
  }

  /** Whether another message may wait for a slot: as many may wait as there are slots. */
  get hasRoomToWait(): boolean {
    return this.waiting.size < this.most;
  }

  limits(): TakenLimit[] {
    const taken = this.running.count + this.held;
    const advice = 'Raise limits.turns_per_replica, or add replicas.';
    return [{ holder: null, what: 'turns at once at this replica', taken, limit: this.most, advice }];
  }

  /** Waits for a slot, in the order of the calls. @returns whether it got one within `waitMs` */
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

  /** Runs `work` with a slot that was taken. The slot stays taken only if `work` returns something. */
  async holdFor<Result>(work: () => Promise<Result | undefined>): Promise<Result | undefined> {
    let result: Result | undefined;
    try {
      result = await work();
      return result;
    } finally {
      if (result === undefined) this.release();
    }
  }

  /** Gives a slot back: its turn runs, or will not run. */
  release(): void {
    this.held -= 1;
    this.admit();
    if (this.held === 0) for (const wake of this.onNoneBegins.splice(0)) wake();
  }

  /** How many turns are about to begin: a session may be theirs already. */
  get beginning(): number {
    return this.held;
  }

  /** Resolves when none is about to begin, at once if so already. */
  noneBegins(): Promise<void> {
    if (this.held === 0) return Promise.resolve();
    return new Promise((resolve) => this.onNoneBegins.push(resolve));
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
