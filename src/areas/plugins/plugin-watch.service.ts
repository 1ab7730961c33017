import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/sentence-of.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { DueWork } from '../../platform/runtime/due-work.service.js';
import { Plugins } from './plugins.service.js';
import { STATES_REVISION } from './state/plugin-state.store.js';

/** Every replica has what was settled on another within a second, when its plugins load at once. */
const POLL_MS = 500;
/** A plugin that was found at the same moment as a change may have missed it. */
const RETRY_MS = 10_000;

/** Follows what other replicas settled about plugins. */
@Injectable()
export class PluginWatch implements OnModuleInit, OnModuleDestroy {
  private readonly logger: Logger;
  private following: Promise<void> | undefined;
  private followed: unknown;
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
      name: 'plugins_revision',
      everyMs: POLL_MS,
      sql: STATES_REVISION,
      onAnswer: (revision) => this.follow(revision),
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.following;
  }

  /** One at a time; what could not be followed is tried again with the next answer. */
  private follow(revision: unknown): void {
    const isKnown = revision !== undefined && revision === this.followed;
    if (isKnown && performance.now() - this.followedAt < RETRY_MS) return;
    this.followedAt = performance.now();
    this.following ??= this.poll(revision).finally(() => {
      this.following = undefined;
    });
  }

  /** What fails is said once. */
  private async poll(revision: unknown): Promise<void> {
    try {
      this.followed = (await this.plugins.follow()) ? revision : undefined;
      this.failure = undefined;
    } catch (error) {
      this.followed = undefined;
      const reason = sentenceOf(error);
      if (reason !== this.failure) this.logger.warn('other replicas cannot be followed', { reason });
      this.failure = reason;
    }
  }
}
