import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Logs } from '../../../platform/logging/logger.js';
import { BatchedJob } from '../../../platform/runtime/batched-job.js';
import { Inbox } from './inbox.store.js';

const INTERVAL_MS = 15 * 60_000;
/** A platform that sends something again does so within days; then it is not known any more that it was there. */
const KEPT_DAYS = 30;
const MAX_AT_ONCE = 5000;

/** Forgets messages that were done with long ago. Any number of replicas may do so. */
@Injectable()
export class InboxRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(inbox: Inbox, logs: Logs) {
    this.job = new BatchedJob({
      failure: 'old messages of channels could not be removed',
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
