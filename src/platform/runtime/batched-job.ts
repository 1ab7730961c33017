import type { Logger } from '../logging/logger.js';

export interface BatchedJobOptions {
  /** What it does, for the warning when it cannot: "old log lines could not be deleted". */
  readonly failure: string;
  readonly everyMs: number;
  readonly logger: Logger;
  /** One small bite. @returns whether there is more to do right away */
  batch(): Promise<boolean>;
}

/** So long others get the database between two bites. */
const PAUSE_MS = 20;

/**
 * Work that comes up all the time and may wait: removing what is too old. Every replica has the job, begins at a moment
 * of its own, and finds nothing to do where another has been. A failure is told once until it works again.
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

  /** Resolves when the bite that is being taken is done. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Everything that is due, for whoever cannot wait for the next round. */
  async runAll(): Promise<void> {
    while (await this.run());
  }

  private schedule(inMs: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      void this.run().then((more) => this.schedule(more ? PAUSE_MS : this.options.everyMs));
    }, inMs).unref();
  }

  /** One bite at a time: two at once find the same rows, and the second takes what is left of them for the end. */
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
