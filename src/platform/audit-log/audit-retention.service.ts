import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Statement } from '../database/sql.js';
import { Logs } from '../logging/logger.js';
import { BatchedJob } from '../runtime/batched-job.js';
import { Settings } from '../settings/settings.js';

const INTERVAL_MS = 600_000;
const MAX_AT_ONCE = 1000;

const TRIM: Statement = {
  name: 'audit_entries.trim',
  text: `
    DELETE FROM audit_entries WHERE id IN (
      SELECT id FROM audit_entries WHERE happened_at < now() - make_interval(days => $1)
      ORDER BY happened_at LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING id`,
};

/** Deletes audit entries that are older than they are to be kept. */
@Injectable()
export class AuditRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(database: Database, settings: Settings, logs: Logs) {
    this.job = new BatchedJob({
      failure: 'old audit entries could not be deleted',
      everyMs: INTERVAL_MS,
      logger: logs.for('audit'),
      batch: async () => {
        const { audit_retention_days: days } = settings.current.security;
        return (await database.query(TRIM, [days, MAX_AT_ONCE])).length === MAX_AT_ONCE;
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
