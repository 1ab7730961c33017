import { DatabaseToolApprovals } from '../agent/database-tool-approvals.js';
import type { ToolApprovals } from '../agent/tool-approvals.port.js';
import { AuditLog } from '../audit/audit-log.js';
import { loadSettings } from '../config/settings-loader.js';
import { Database } from '../database/database.js';
import { openDatabase } from '../database/open-database.js';
import { migrate } from '../database/schema.js';
import { Redactor } from '../logs/redactor.js';
import { KnownTools } from '../mcp/tools/known-tools.store.js';
import type { CommandContext } from './command-context.js';
import { QuietLogs } from './quiet-logs.js';
import { theOperator } from './the-operator.js';

/** The connections that one short command needs. */
const POOL_SIZE = 2;

export interface ToolWork {
  readonly known: KnownTools;
  readonly approvals: ToolApprovals;
  /** Who sits at this command line, for the audit. */
  readonly by: string;
}

/** Opens the configured database beside whoever uses it, and leaves it again after the work. */
export async function withTools<Result>(
  context: CommandContext,
  work: (given: ToolWork) => Promise<Result>,
): Promise<Result> {
  const { environment } = context;
  const { settings } = loadSettings({ environment, file: context.configFile() });
  const logs = new QuietLogs(context);
  const opened = await openDatabase({ ...settings.database, pool_size: POOL_SIZE }, logs);
  try {
    await migrate(opened.address);
    const database = new Database(opened.dataSource);
    const audit = new AuditLog(database, new Redactor(), logs);
    const approvals = new DatabaseToolApprovals(database, audit);
    return await work({ known: new KnownTools(database, audit), approvals, by: theOperator() });
  } finally {
    await opened.close();
  }
}
