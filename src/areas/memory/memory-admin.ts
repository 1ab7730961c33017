import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../platform/audit-log/audit-log.js';
import { Database } from '../../platform/database/database.js';
import type { MemoryEntry } from './memory.js';
import { MemoryStore } from './memory.store.js';

/** What operators can do with the memories of one user: list them and delete them all. */
@Injectable()
export class MemoryAdmin {
  constructor(
    private readonly database: Database,
    private readonly store: MemoryStore,
    private readonly audit: AuditLog,
  ) {}

  /** Newest first. */
  list(userId: string): Promise<MemoryEntry[]> {
    return this.store.list(userId);
  }

  /** Deletes all of a user's memories and audits it, in one transaction. @returns the number of deleted entries */
  forgetUser(userId: string, by: string): Promise<number> {
    return this.database.transaction(async (runner) => {
      const entries = await this.store.forgetUser(runner, userId);
      const entry = { action: 'memory.forgotten', actor: by, target: userId, outcome: 'success' };
      await this.audit.write(runner, { ...entry, details: { entries } });
      return entries;
    });
  }
}
