import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { outsideLogContext } from '../../logs/log-context.js';
import { type Logger, Logs } from '../../logs/logger.js';
import { Inbox } from './inbox.store.js';

const EVERY_MS = 15 * 60_000;
/** A platform that sends something again does so within days; then it is not known any more that it was there. */
const KEPT_DAYS = 30;
const MOST_AT_ONCE = 5000;

/** Forgets messages that were done with long ago. Any number of replicas may do so. */
@Injectable()
export class InboxJanitor implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly inbox: Inbox,
    logs: Logs,
  ) {
    this.logger = logs.for('channels::janitor');
  }

  onApplicationBootstrap(): void {
    this.timer = outsideLogContext(() =>
      setInterval(() => {
        this.sweeping = this.sweep();
      }, EVERY_MS).unref(),
    );
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.timer);
    await this.sweeping;
  }

  /** Never rejects. */
  async sweep(): Promise<void> {
    try {
      while (!this.isStopped && (await this.inbox.prune(KEPT_DAYS, MOST_AT_ONCE)) === MOST_AT_ONCE);
    } catch (error) {
      this.logger.debug('old messages of channels stay for now', { error: String(error) });
    }
  }
}
