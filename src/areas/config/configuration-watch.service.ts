import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { DueWork } from '../../platform/runtime/due-work.service.js';
import { Poller } from '../../platform/runtime/poller.js';
import { InvalidSettings } from '../../platform/settings/settings-validation.js';
import { STORED_REVISION } from './config.store.js';
import { Configuration } from './configuration.js';

const ABSENT = 'absent';

/**
 * Notices that the content of a file changed. It compares content instead of waiting for notifications: that also works
 * for a Kubernetes ConfigMap, whose folder is swapped by a symbolic link, and on every network file system.
 */
export class FileWatch {
  private settled: string | undefined;
  private seen: string | undefined;

  /** `path` is called at each poll, since a file may appear later. */
  constructor(private readonly path: () => string | undefined) {}

  /** Whether there is unsettled content that did not change since the last poll, so that no one is still writing it. */
  async hasNews(): Promise<boolean> {
    const before = this.seen;
    this.seen = await fingerprint(this.path());
    return this.seen === before && this.seen !== this.settled;
  }

  /** Marks the content of the last poll as applied, or as refused for good. */
  settle(): void {
    this.settled = this.seen;
  }
}

async function fingerprint(path: string | undefined): Promise<string> {
  if (path === undefined) return ABSENT;
  try {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('base64');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** How often file and store are polled. A change takes at most twice this plus the work; every replica has it within 1.5 s. */
const POLL_MS = 400;
const STORED = 'stored changes';

/** Applies changes made elsewhere: to the stored overrides by other replicas, and to the file of this one. */
@Injectable()
export class ConfigurationWatch implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly file: FileWatch;
  private readonly poller = new Poller({
    everyMs: POLL_MS,
    look: () => this.attempt('file', () => this.followFile()),
    failed: (error) =>
      this.logger.warn('the stored configuration could not be checked; will retry', { error: String(error) }),
  });
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
      question: STORED_REVISION,
      everyMs: POLL_MS,
      onAnswer: (revision) => this.followStore(revision),
    });
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
    await this.following;
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
  private followStore(revision: string | undefined): void {
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
      // Only new content can help here; any other failure is retried.
      if (error instanceof InvalidSettings) this.file.settle();
      throw error;
    }
    this.file.settle();
  }
}
