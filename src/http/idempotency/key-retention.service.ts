import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Logs } from '../../platform/logging/logger.js';
import { BatchedJob } from '../../platform/runtime/batched-job.js';
import { KeyStore } from './key.store.js';

const INTERVAL_MS = 60_000;
const MAX_AT_ONCE = 1000;

/** Removes keys that are older than a day. */
@Injectable()
export class KeyRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(store: KeyStore, logs: Logs) {
    this.job = new BatchedJob({
      failure: 'old Idempotency-Keys could not be removed',
      everyMs: INTERVAL_MS,
      logger: logs.for('gateway::idempotency'),
      batch: async () => (await store.forget(MAX_AT_ONCE)) === MAX_AT_ONCE,
    });
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.job.stop();
  }
}
