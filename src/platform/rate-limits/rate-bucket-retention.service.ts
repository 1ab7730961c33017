import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Logs } from '../logging/logger.js';
import { BatchedJob } from '../runtime/batched-job.js';
import { Settings } from '../settings/settings.js';
import { RateBucketStore, sharesRateLimits } from './rate-bucket.store.js';

const INTERVAL_MS = 30_000;

/** Deletes buckets that were not used lately. Every replica does so, and skips rows that another one has locked. */
@Injectable()
export class RateBucketRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(
    store: RateBucketStore,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.job = new BatchedJob({
      failure: 'old rate buckets could not be removed',
      everyMs: INTERVAL_MS,
      logger: logs.for('gateway::rate-limits'),
      batch: () => store.forgetFull(),
    });
  }

  onApplicationBootstrap(): void {
    if (sharesRateLimits(this.settings.current)) this.job.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.job.stop();
  }
}
