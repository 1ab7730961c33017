import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { idsSince } from '../../common/ids/typeid.js';
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
/**
 * What will never be sent: deliveries of deleted hooks, and of hooks that ended with their token. Those that were tried and
 * those that were not each have an index; what has ended is not read, it goes with its age.
 */
const ORPHANS = statement({
  name: 'hook_retention.orphans',
  params: { most: bigint },
  row: { id: bigint },
  sql: `
    DELETE FROM hook_deliveries WHERE id IN (
      SELECT id FROM (${orphansAmong('attempts = 0')}) AS unsent
      UNION ALL SELECT id FROM (${orphansAmong('attempts > 0')}) AS due) RETURNING id`,
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
/** Ids sort by time, so the key finds them: events that are kept are not read. `young` sorts behind all that may be old. */
export const OLD_EVENTS = statement({
  name: 'hook_retention.old_events_by_id',
  params: { hours: integer, young: text, most: bigint },
  row: { id: text },
  sql: `
    DELETE FROM events WHERE id IN (
      SELECT id FROM events AS e WHERE e.id < :young AND e.occurred_at < now() - make_interval(hours => :hours)
        AND NOT EXISTS (SELECT 1 FROM hook_deliveries AS d WHERE d.event_id = e.id)
      ORDER BY e.id LIMIT :most) RETURNING id`,
});
/** The clock that made an id may differ from this one. */
const HOUR_MS = 3_600_000;

export function oldEvents(hours: number, most: number): { hours: number; most: number; young: string } {
  return { hours, most, young: idsSince('evt', Date.now() - (hours - 1) * HOUR_MS) };
}

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
      await this.database.query(OLD_EVENTS, oldEvents(terms.hours, terms.most)),
    ];
    return gone.some(({ length }) => length >= MAX_AT_ONCE);
  }
}

function orphansAmong(condition: string): string {
  return `
    SELECT d.id FROM hook_deliveries AS d LEFT JOIN hooks AS h ON h.id = d.hook_id
    WHERE d.status = 'pending' AND d.${condition} AND (h.id IS NULL OR h.inactive_reason = 'token_revoked')
    LIMIT :most FOR UPDATE OF d SKIP LOCKED`;
}
