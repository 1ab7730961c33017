import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import type { Statement } from '../database/sql.js';
import { type Logger, Logs } from '../logs/logger.js';

const EVERY_MS = 60_000;
const MOST_AT_ONCE = 1000;
const MOST_ROUNDS = 100;

const OLD_DELIVERIES: Statement = {
  name: 'hook_janitor.old_deliveries',
  text: `
    DELETE FROM hook_deliveries WHERE id IN (
      SELECT id FROM hook_deliveries WHERE status <> 'pending' AND done_at < now() - make_interval(hours => $1)
      LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id`,
};
/** What a deleted hook left behind; `$1` is not needed here but keeps the statements alike. */
const ORPHANS: Statement = {
  name: 'hook_janitor.orphans',
  text: `
    DELETE FROM hook_deliveries WHERE id IN (
      SELECT id FROM hook_deliveries AS d
      WHERE NOT EXISTS (SELECT 1 FROM hooks AS h WHERE h.id = d.hook_id) AND $1::int >= 0
      LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id`,
};
const OLD_EVENTS: Statement = {
  name: 'hook_janitor.old_events',
  text: `
    DELETE FROM events WHERE id IN (
      SELECT id FROM events AS e WHERE e.occurred_at < now() - make_interval(hours => $1)
        AND NOT EXISTS (SELECT 1 FROM hook_deliveries AS d WHERE d.event_id = e.id)
      LIMIT $2) RETURNING id`,
};

/** Removes what nobody can list or replay any more. Any number of replicas may do so. */
@Injectable()
export class HookJanitor implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private timer: NodeJS.Timeout | undefined;
  private cleaning: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('hooks::janitor');
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.cleaning = this.cleaning.then(() => this.clean());
    }, EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.cleaning;
  }

  /** Everything that is due, in small bites. */
  async clean(): Promise<void> {
    try {
      for (const statement of [OLD_DELIVERIES, ORPHANS, OLD_EVENTS]) await this.empty(statement);
    } catch (error) {
      this.logger.warn('old deliveries could not be removed; it is tried again', { error: String(error) });
    }
  }

  private async empty(statement: Statement): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS && !this.stopped; round += 1) {
      const values = [this.settings.current.hooks.retention_hours, MOST_AT_ONCE];
      if ((await this.database.query(statement, values)).length < MOST_AT_ONCE) return;
    }
  }
}
