import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { BatchedJob } from '../runtime/batched-job.js';
import { Settings } from '../settings/settings.js';
import { LogStore } from './log.store.js';
import { Logs } from './logger.js';

const INTERVAL_MS = 60_000;
const MAX_AT_ONCE = 5000;

/** Deletes log lines that are too old or too many, on one replica at a time. */
@Injectable()
export class LogRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(store: LogStore, settings: Settings, logs: Logs) {
    this.job = new BatchedJob({
      failure: 'old log lines could not be deleted',
      everyMs: INTERVAL_MS,
      logger: logs.for('logs::retention'),
      batch: async () => {
        const { retention_days: days, retention_rows: rows } = settings.current.logging;
        return (await store.trim(days, rows, MAX_AT_ONCE)) === MAX_AT_ONCE;
      },
    });
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.job.stop();
  }
}
