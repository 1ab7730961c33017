import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import type { Statement } from '../database/sql.js';
import { type Logger, Logs } from '../logs/logger.js';

const PAUSE_MS = 600_000;
const MOST_AT_ONCE = 10_000;

const TRIM: Statement = {
  name: 'audit_entries.trim',
  text: `
    DELETE FROM audit_entries WHERE id IN (
      SELECT id FROM audit_entries WHERE happened_at < now() - make_interval(days => $1)
      ORDER BY happened_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
};

/** Deletes audit entries that are older than they are to be kept, a bounded number at a time. */
@Injectable()
export class AuditRetention implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private timer: NodeJS.Timeout | undefined;
  private trimming: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('audit');
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.trimming = this.trim();
    }, PAUSE_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.trimming;
  }

  /** One round. A failure is logged; the next round tries again. */
  async trim(): Promise<void> {
    try {
      await this.database.query(TRIM, [this.settings.current.security.audit_retention_days, MOST_AT_ONCE]);
    } catch (error) {
      this.logger.warn('old audit entries could not be deleted; it will be tried again', {
        reason: String(error),
      });
    }
  }
}
