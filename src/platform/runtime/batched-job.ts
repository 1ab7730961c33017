import type { Logger } from '../logging/logger.js';

export interface BatchedJobOptions {
  /** The warning when it fails: "old log lines could not be deleted". */
  readonly failure: string;
  readonly everyMs: number;
  readonly logger: Logger;
  /** One small batch. @returns whether there is more to do right away */
  batch(): Promise<boolean>;
}

/** The pause between two batches, in which others can use the database. */
const PAUSE_MS = 20;

/**
 * Recurring work that may wait, such as deleting what is too old. Every replica runs the job, starts at a random
 * moment, and finds nothing to do where another one has been. A failure is logged once, until the job works again.
 */
export class BatchedJob {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  private failing = false;

  constructor(private readonly options: BatchedJobOptions) {}

  start(): void {
    this.schedule(Math.random() * this.options.everyMs);
  }

  /** Resolves when the batch that is under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Does everything that is due now, without waiting for the next time. */
  async runAll(): Promise<void> {
    while (await this.run());
  }

  private schedule(inMs: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      void this.run().then((more) => this.schedule(more ? PAUSE_MS : this.options.everyMs));
    }, inMs).unref();
  }

  /**
   * One batch at a time: two would find the same rows, and the second would take the rows left to it for the last ones.
   */
  private run(): Promise<boolean> {
    const current = this.running.then(() => this.runBatch());
    this.running = current.then(() => undefined);
    return current;
  }

  private async runBatch(): Promise<boolean> {
    try {
      const more = await this.options.batch();
      this.failing = false;
      return more;
    } catch (error) {
      if (!this.failing)
        this.options.logger.warn(`${this.options.failure}; it will be tried again`, { error: String(error) });
      this.failing = true;
      return false;
    }
  }
}
