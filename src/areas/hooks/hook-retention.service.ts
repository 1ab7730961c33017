import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { bigint, integer, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { Logs } from '../../platform/logging/logger.js';
import { BatchedJob } from '../../platform/runtime/batched-job.js';
import { Settings } from '../../platform/settings/settings.js';
import { removeToldHooks } from './task-hook.js';

const INTERVAL_MS = 60_000;
const MAX_AT_ONCE = 1000;

const OLD_DELIVERIES = statement({
  name: 'hook_retention.old_deliveries',
  params: { hours: integer, most: bigint },
  row: { id: bigint },
  sql: `
    DELETE FROM hook_deliveries WHERE id IN (
      SELECT id FROM hook_deliveries WHERE status <> 'pending' AND done_at < now() - make_interval(hours => :hours)
      LIMIT :most FOR UPDATE SKIP LOCKED) RETURNING id`,
});
/** Deliveries of deleted hooks, and pending ones of hooks that ended with their token. */
const ORPHANS = statement({
  name: 'hook_retention.orphans',
  params: { most: bigint },
  row: { id: bigint },
  sql: `
    DELETE FROM hook_deliveries WHERE id IN (
      SELECT id FROM hook_deliveries AS d
      WHERE NOT EXISTS (SELECT 1 FROM hooks AS h WHERE h.id = d.hook_id)
        OR d.status = 'pending' AND d.hook_id IN (SELECT id FROM hooks WHERE inactive_reason = 'token_revoked')
      LIMIT :most FOR UPDATE SKIP LOCKED) RETURNING id`,
});
/**
 * Webhooks of tasks that are over and were told of everything, with what is left of them: deliveries that failed are kept for
 * some hours. Also those whose message never began a task, or has been erased.
 */
const OF_ENDED_TASKS = statement({
  name: 'hook_retention.of_ended_tasks',
  params: { hours: integer, most: bigint },
  row: { id: text },
  sql: removeToldHooks(`h.message_id IS NOT NULL`),
});
const OLD_EVENTS = statement({
  name: 'hook_retention.old_events',
  params: { hours: integer, most: bigint },
  row: { id: text },
  sql: `
    DELETE FROM events WHERE id IN (
      SELECT id FROM events AS e WHERE e.occurred_at < now() - make_interval(hours => :hours)
        AND NOT EXISTS (SELECT 1 FROM hook_deliveries AS d WHERE d.event_id = e.id)
      LIMIT :most) RETURNING id`,
});

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
    const terms = { hours: this.settings.current.hooks.retention_hours, most: MAX_AT_ONCE };
    const gone = [
      await this.database.query(OLD_DELIVERIES, terms),
      await this.database.query(OF_ENDED_TASKS, terms),
      await this.database.query(ORPHANS, terms),
      await this.database.query(OLD_EVENTS, terms),
    ];
    return gone.some(({ length }) => length === MAX_AT_ONCE);
  }
}
