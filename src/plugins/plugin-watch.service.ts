import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { sentenceOf } from '../errors/sentence-of.js';
import { type Logger, Logs } from '../logs/logger.js';
import { Plugins } from './plugins.service.js';

/** Every replica has what was settled on another within a second, when its plugins load at once. */
const LOOK_MS = 500;

/** Follows what other replicas settled about plugins. */
@Injectable()
export class PluginWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly stopped = new AbortController();
  private watching: Promise<void> = Promise.resolve();
  private failure: string | undefined;

  constructor(
    private readonly plugins: Plugins,
    logs: Logs,
  ) {
    this.logger = logs.for('plugins');
  }

  onApplicationBootstrap(): void {
    this.watching = this.watch();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped.abort();
    await this.watching;
  }

  private async watch(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      await this.look();
      await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** What fails is tried again at the next look, and said once. */
  private async look(): Promise<void> {
    try {
      await this.plugins.follow();
      this.failure = undefined;
    } catch (error) {
      const reason = sentenceOf(error);
      if (reason !== this.failure) this.logger.warn('other replicas cannot be followed', { reason });
      this.failure = reason;
    }
  }
}
