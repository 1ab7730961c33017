import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { type Logger, Logs } from '../logs/logger.js';
import { RateBucketStore } from './rate-bucket.store.js';
import { sharesRateLimits } from './rate-limit-store.js';

const EVERY_MS = 30_000;

/** Removes buckets that nobody has asked for lately. Any replica may; they skip what another one holds. */
@Injectable()
export class RateBucketJanitor implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private cleaning: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: RateBucketStore,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway::rate-limits');
  }

  onApplicationBootstrap(): void {
    if (!sharesRateLimits(this.settings.current)) return;
    this.timer = setInterval(() => {
      this.cleaning = this.clean();
    }, EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.timer);
    await this.cleaning;
  }

  /** Ends when nothing is left to remove, or when the gateway stops. */
  async clean(): Promise<void> {
    try {
      while (!this.stopping.signal.aborted && (await this.store.forgetFull()));
    } catch (error) {
      this.logger.debug('old rate buckets could not be removed; it will be tried again', {
        reason: String(error),
      });
    }
  }
}
