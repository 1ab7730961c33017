import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { DueWork } from '../../platform/runtime/due-work.service.js';
import { STATES_REVISION } from './plugin-state.store.js';
import { Plugins } from './plugins.service.js';

/** A change reaches the other replicas within a second, plus the time to load the plugin. */
const POLL_MS = 500;
/** States are compared this often even without a new revision: a plugin found during a change may have missed it. */
const RECHECK_MS = 10_000;

/** Applies the plugin changes of other replicas. */
@Injectable()
export class PluginWatch implements OnModuleInit, OnModuleDestroy {
  private readonly logger: Logger;
  private following: Promise<void> | undefined;
  private followed: string | undefined;
  private followedAt = 0;
  private failure: string | undefined;

  constructor(
    private readonly plugins: Plugins,
    private readonly due: DueWork,
    logs: Logs,
  ) {
    this.logger = logs.for('plugins');
  }

  onModuleInit(): void {
    this.due.watch({
      question: STATES_REVISION,
      everyMs: POLL_MS,
      onAnswer: (revision) => this.follow(revision),
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.following;
  }

  /** Runs one comparison at a time; after a failure the next revision poll tries again. */
  private follow(revision: string | undefined): void {
    const isKnown = revision !== undefined && revision === this.followed;
    if (isKnown && performance.now() - this.followedAt < RECHECK_MS) return;
    this.followedAt = performance.now();
    this.following ??= this.poll(revision).finally(() => {
      this.following = undefined;
    });
  }

  /** Logs a repeated failure once. */
  private async poll(revision: string | undefined): Promise<void> {
    try {
      this.followed = (await this.plugins.follow()) ? revision : undefined;
      this.failure = undefined;
    } catch (error) {
      this.followed = undefined;
      const reason = sentenceOf(error);
      if (reason !== this.failure)
        this.logger.warn('plugin changes of other replicas could not be applied', { reason });
      this.failure = reason;
    }
  }
}
