import { MemoryStore } from '../areas/memory/memory.store.js';
import { MemoryAdmin } from '../areas/memory/memory-admin.js';
import { AuditLog } from '../platform/audit-log/audit-log.js';
import { Redactor } from '../platform/logging/redactor.js';
import type { CommandContext } from './command-context.js';
import { type DatabaseAccess, withDatabase } from './with-database.js';

/** Opens the memories of users. */
export function withMemory<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (admin: MemoryAdmin) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, access, ({ database, logs }) => {
    const audit = new AuditLog(database, new Redactor(), logs);
    return work(new MemoryAdmin(database, new MemoryStore(database), audit));
  });
}
