import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { Logs } from '../../platform/logging/logger.js';
import { BatchedJob } from '../../platform/runtime/batched-job.js';
import { Settings } from '../../platform/settings/settings.js';

const INTERVAL_MS = 60_000;
/** Each may have thousands of messages, which go with it. */
const MAX_AT_ONCE = 50;

const TRIM: Statement = {
  name: 'sessions.trim',
  text: `
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE status = 'terminated' AND ended_at < now() - make_interval(days => $1)
      ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)
    RETURNING id`,
};

/** Deletes sessions that ended so long ago that they are not to be kept, with their messages and turns. */
@Injectable()
export class SessionRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(database: Database, settings: Settings, logs: Logs) {
    this.job = new BatchedJob({
      failure: 'old sessions could not be deleted',
      everyMs: INTERVAL_MS,
      logger: logs.for('sessions::retention'),
      batch: async () => {
        const { session_retention_days: days } = settings.current.agent;
        if (days === 0) return false;
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
