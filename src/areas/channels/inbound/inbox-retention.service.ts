import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Logs } from '../../../platform/logging/logger.js';
import { BatchedJob } from '../../../platform/runtime/batched-job.js';
import { Inbox } from './inbox.store.js';

const INTERVAL_MS = 15 * 60_000;
/** Platforms repeat messages within days; older ones need not be recognised. */
const KEPT_DAYS = 30;
const MAX_AT_ONCE = 5000;

/** Deletes messages that were done long ago. Any number of replicas may run it. */
@Injectable()
export class InboxRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(inbox: Inbox, logs: Logs) {
    this.job = new BatchedJob({
      failure: 'old channel messages could not be deleted',
      everyMs: INTERVAL_MS,
      logger: logs.for('channels::janitor'),
      batch: async () => (await inbox.prune(KEPT_DAYS, MAX_AT_ONCE)) === MAX_AT_ONCE,
    });
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.job.stop();
  }
}
