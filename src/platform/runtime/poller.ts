import { outsideLogContext } from '../logging/log-context.js';

export interface PollerOptions {
  /**
   * Milliseconds from the end of one look to the next; infinite when none follows before a wake. A function is asked after
   * each look, with how many looks have failed in a row.
   */
  readonly everyMs: number | ((failures: number) => number);
  /** Looks once, and does what is due. */
  look(): Promise<void> | void;
  /**
   * Called when a look threw, for a line in the log, but only for the first failure in a row. Every failure is retried.
   */
  failed(error: unknown): void;
}

/**
 * Looks at once (or after a while), and again and again until it is stopped; never twice at the same time. `wake` makes
 * the next look come now, or right after the current one, so that nothing that happened before `wake` is missed. Does
 * not keep the process alive, and runs outside any log context.
 */
export class Poller {
  private timer: NodeJS.Timeout | undefined;
  /** When the next look begins at the latest, by the monotonic clock. */
  private dueAt = Number.POSITIVE_INFINITY;
  private looking: Promise<void> | undefined;
  private isRunning = false;
  private isWoken = false;
  private failures = 0;

  constructor(private readonly options: PollerOptions) {}

  get isLooking(): boolean {
    return this.looking !== undefined;
  }

  /** Whether the last look failed. */
  get isFailing(): boolean {
    return this.failures > 0;
  }

  /**
   * Does nothing while the poller runs; after `stop` it starts again. @param afterMs milliseconds until the first look;
   * at once when left out, and not before a wake when infinite
   */
  start(afterMs?: number): void {
    if (this.isRunning) return;
    this.isRunning = true;
    if (afterMs === undefined) this.wake();
    else this.wakeWithin(afterMs);
  }

  /** Does nothing before `start` and after `stop`. */
  wake(): void {
    if (!this.isRunning) return;
    this.isWoken = this.looking !== undefined;
    if (this.isWoken) return;
    this.forgetDue();
    // Before it begins, so that a look that wakes is followed by the next one and does not run inside itself.
    this.looking = Promise.resolve();
    this.looking = outsideLogContext(() => this.look()).then(() => this.next());
  }

  /** Makes the next look come within so many milliseconds, and never later than without. Else like `wake`. */
  wakeWithin(ms: number): void {
    const at = performance.now() + ms;
    if (!this.isRunning || at >= this.dueAt) return;
    this.forgetDue();
    this.dueAt = at;
    if (this.looking === undefined)
      this.timer = outsideLogContext(() => setTimeout(() => this.wake(), ms).unref());
  }

  /** No further look begins. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.isRunning = false;
    this.forgetDue();
    await this.looking;
  }

  private async look(): Promise<void> {
    try {
      await this.options.look();
      this.failures = 0;
    } catch (error) {
      this.failures += 1;
      if (this.failures === 1) this.options.failed(error);
    }
  }

  private next(): void {
    this.looking = undefined;
    if (!this.isRunning) return;
    if (this.isWoken) {
      this.wake();
      return;
    }
    const { everyMs } = this.options;
    const ms = typeof everyMs === 'number' ? everyMs : everyMs(this.failures);
    const askedMs = Math.max(0, this.dueAt - performance.now());
    this.forgetDue();
    this.wakeWithin(Math.min(ms, askedMs));
  }

  private forgetDue(): void {
    clearTimeout(this.timer);
    this.dueAt = Number.POSITIVE_INFINITY;
  }
}
