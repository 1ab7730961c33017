import { outsideLogContext } from '../logging/log-context.js';

export interface PollerOptions {
  /** Milliseconds from the end of one look to the next; a function is asked after each look. */
  readonly everyMs: number | (() => number);
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
  private looking: Promise<void> | undefined;
  private isRunning = false;
  private isWoken = false;
  private failing = false;

  constructor(private readonly options: PollerOptions) {}

  /** Whether the last look failed. */
  get isFailing(): boolean {
    return this.failing;
  }

  /**
   * Does nothing while the poller runs; after `stop` it starts again. @param afterMs milliseconds until the first look;
   * at once when left out
   */
  start(afterMs?: number): void {
    if (this.isRunning) return;
    this.isRunning = true;
    if (afterMs === undefined) this.wake();
    else if (this.looking === undefined) this.lookIn(afterMs);
  }

  /** Does nothing before `start` and after `stop`. */
  wake(): void {
    if (!this.isRunning) return;
    this.isWoken = this.looking !== undefined;
    if (this.isWoken) return;
    clearTimeout(this.timer);
    this.looking = outsideLogContext(() => this.look()).then(() => this.next());
  }

  /** No further look begins. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.isRunning = false;
    clearTimeout(this.timer);
    await this.looking;
  }

  private async look(): Promise<void> {
    try {
      await this.options.look();
      this.failing = false;
    } catch (error) {
      const isFirst = !this.failing;
      this.failing = true;
      if (isFirst) this.options.failed(error);
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
    const ms = typeof everyMs === 'number' ? everyMs : everyMs();
    this.lookIn(ms);
  }

  private lookIn(ms: number): void {
    this.timer = outsideLogContext(() => setTimeout(() => this.wake(), ms).unref());
  }
}
