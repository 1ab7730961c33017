import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { DueWork } from '../../platform/runtime/due-work.service.js';
import { InvalidSettings } from '../../platform/settings/settings-validation.js';
import { STORED_REVISION } from './config.store.js';
import { Configuration } from './configuration.js';
import { FileWatch } from './file-watch.js';

/** How often file and store are polled. A change takes at most twice this plus the work; every replica has it within 1.5 s. */
const POLL_MS = 400;
const STORED = 'stored changes';

/** Applies changes made elsewhere: to the stored overrides by other replicas, and to the file of this one. */
@Injectable()
export class ConfigurationWatch implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly file: FileWatch;
  private readonly stopped = new AbortController();
  private watching: Promise<void> = Promise.resolve();
  private following: Promise<void> | undefined;
  private readonly failures = new Map<string, string>();

  constructor(
    private readonly configuration: Configuration,
    private readonly due: DueWork,
    logs: Logs,
  ) {
    this.logger = logs.for('config::watch');
    this.file = new FileWatch(() => configuration.file());
  }

  onModuleInit(): void {
    this.due.watch({
      name: 'config_revision',
      everyMs: POLL_MS,
      sql: STORED_REVISION,
      onAnswer: (revision) => this.followStore(revision),
    });
  }

  onApplicationBootstrap(): void {
    this.watching = this.watch();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped.abort();
    await this.watching;
    await this.following;
  }

  private async watch(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      await this.attempt('file', () => this.followFile());
      await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Retries a failure at the next poll, and logs it once. */
  private async attempt(source: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.failures.delete(source);
    } catch (error) {
      const reason = sentenceOf(error);
      if (this.failures.get(source) === reason) return;
      this.failures.set(source, reason);
      this.logger.warn('a configuration change could not be applied; the old configuration stays in force', {
        source,
        reason,
      });
    }
  }

  /** One at a time; a failure is retried with the next answer. */
  private followStore(revision: unknown): void {
    const isNew = revision !== this.configuration.live.snapshot.stored.revision;
    if (!isNew && !this.failures.has(STORED)) return;
    this.following ??= this.attempt(STORED, () => this.configuration.followStore()).finally(() => {
      this.following = undefined;
    });
  }

  private async followFile(): Promise<void> {
    if (!(await this.file.hasNews())) return;
    try {
      await this.configuration.followFile();
    } catch (error) {
      // Only new content can mend this; any other failure is retried.
      if (error instanceof InvalidSettings) this.file.settle();
      throw error;
    }
    this.file.settle();
  }
}
