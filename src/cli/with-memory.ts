import { AuditLog } from '../audit/audit-log.js';
import { loadSettings } from '../config/settings-loader.js';
import { Database } from '../database/database.js';
import { openDatabase } from '../database/open-database.js';
import { migrate } from '../database/schema.js';
import { Redactor } from '../logs/redactor.js';
import { MemoryStore } from '../memory/memory.store.js';
import { MemoryDesk } from '../memory/memory-desk.js';
import type { CommandContext } from './command-context.js';
import { QuietLogs } from './quiet-logs.js';

/** The connections that one short command needs. */
const POOL_SIZE = 2;

/** Opens the configured database beside whoever uses it, and leaves it again after the work. */
export async function withMemory<Result>(
  context: CommandContext,
  work: (desk: MemoryDesk) => Promise<Result>,
): Promise<Result> {
  const { environment } = context;
  const { settings } = loadSettings({ environment, file: context.configFile() });
  const logs = new QuietLogs(context);
  const opened = await openDatabase({ ...settings.database, pool_size: POOL_SIZE }, logs);
  try {
    await migrate(opened.address);
    const database = new Database(opened.dataSource);
    const audit = new AuditLog(database, new Redactor(), logs);
    return await work(new MemoryDesk(database, new MemoryStore(database), audit));
  } finally {
    await opened.close();
  }
}
