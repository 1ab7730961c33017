import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { Logs } from '../../platform/logging/logger.js';
import { BatchedJob } from '../../platform/runtime/batched-job.js';
import { Settings } from '../../platform/settings/settings.js';
import { removeToldHooks } from './task-hook.js';

const INTERVAL_MS = 60_000;
const MAX_AT_ONCE = 1000;

const OLD_DELIVERIES: Statement = {
  name: 'hook_retention.old_deliveries',
  text: `
    DELETE FROM hook_deliveries WHERE id IN (
      SELECT id FROM hook_deliveries WHERE status <> 'pending' AND done_at < now() - make_interval(hours => $1)
      LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id`,
};
/**
 * Deliveries of deleted hooks, and pending ones of hooks that ended with their token. `$1` is unused; it keeps the
 * parameters of the statements alike.
 */
const ORPHANS: Statement = {
  name: 'hook_retention.orphans',
  text: `
    DELETE FROM hook_deliveries WHERE id IN (
      SELECT id FROM hook_deliveries AS d
      WHERE $1::int >= 0 AND (NOT EXISTS (SELECT 1 FROM hooks AS h WHERE h.id = d.hook_id)
        OR d.status = 'pending' AND d.hook_id IN (SELECT id FROM hooks WHERE inactive_reason = 'token_revoked'))
      LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id`,
};
/**
 * Webhooks of tasks that are over and were told of everything, with what is left of them: deliveries that failed are kept for
 * `$1` hours. Also those whose message never began a task, or has been erased.
 */
const OF_ENDED_TASKS: Statement = {
  name: 'hook_retention.of_ended_tasks',
  text: removeToldHooks(`h.message_id IS NOT NULL`),
};
const OLD_EVENTS: Statement = {
  name: 'hook_retention.old_events',
  text: `
    DELETE FROM events WHERE id IN (
      SELECT id FROM events AS e WHERE e.occurred_at < now() - make_interval(hours => $1)
        AND NOT EXISTS (SELECT 1 FROM hook_deliveries AS d WHERE d.event_id = e.id)
      LIMIT $2) RETURNING id`,
};

/** Deletes deliveries and events that can no longer be listed or replayed. */
@Injectable()
export class HookRetention implements OnApplicationBootstrap, OnModuleDestroy {
  readonly job: BatchedJob;

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.job = new BatchedJob({
      failure: 'old deliveries could not be deleted',
      everyMs: INTERVAL_MS,
      logger: logs.for('hooks::retention'),
      batch: () => this.clean(),
    });
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.job.stop();
  }

  private async clean(): Promise<boolean> {
    let more = false;
    for (const statement of [OLD_DELIVERIES, OF_ENDED_TASKS, ORPHANS, OLD_EVENTS]) {
      const values = [this.settings.current.hooks.retention_hours, MAX_AT_ONCE];
      const gone = await this.database.query(statement, values);
      more ||= gone.length === MAX_AT_ONCE;
    }
    return more;
  }
}
