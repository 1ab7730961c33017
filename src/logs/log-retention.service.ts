import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { LogStore } from './log.store.js';
import { type Logger, Logs } from './logger.js';

const PAUSE_MS = 60_000;
const PAUSE_WITHIN_MS = 100;
const MOST_AT_ONCE = 5000;

/** Deletes log lines that are too old or too many, a few at a time, on one replica at a time. */
@Injectable()
export class LogRetention implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private timer: NodeJS.Timeout | undefined;
  private trimming: Promise<void> = Promise.resolve();
  private stopped = false;
  private failing = false;

  constructor(
    private readonly store: LogStore,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('logs::retention');
  }

  onApplicationBootstrap(): void {
    this.schedule(Math.random() * PAUSE_MS);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.trimming;
  }

  /** One round, for those who cannot wait for the next. @returns how many lines went */
  async trimOnce(): Promise<number> {
    const { retention_days: days, retention_rows: rows } = this.settings.current.logging;
    return this.store.trim(days, rows, MOST_AT_ONCE);
  }

  private schedule(inMs: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.trimming = this.trim().then((more) => this.schedule(more ? PAUSE_WITHIN_MS : PAUSE_MS));
    }, inMs).unref();
  }

  /** @returns whether there is more to do right away */
  private async trim(): Promise<boolean> {
    try {
      const gone = await this.trimOnce();
      this.failing = false;
      return gone === MOST_AT_ONCE;
    } catch (error) {
      if (!this.failing)
        this.logger.warn('old log lines could not be deleted; it will be tried again', {
          reason: String(error),
        });
      this.failing = true;
      return false;
    }
  }
}
