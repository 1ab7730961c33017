import { AuditLog } from '../audit/audit-log.js';
import { Redactor } from '../logs/redactor.js';
import { MemoryStore } from '../memory/memory.store.js';
import { MemoryDesk } from '../memory/memory-desk.js';
import type { CommandContext } from './command-context.js';
import { type DatabaseAccess, withDatabase } from './with-database.js';

/** What users told, for commands. */
export function withMemory<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (desk: MemoryDesk) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, access, ({ database, logs }) => {
    const audit = new AuditLog(database, new Redactor(), logs);
    return work(new MemoryDesk(database, new MemoryStore(database), audit));
  });
}
