import { KnownTools } from '../areas/mcp/tools/known-tools.store.js';
import { DatabaseToolApprovals } from '../areas/tools/database-tool-approvals.js';
import type { ToolApprovals } from '../areas/tools/tool-approvals.port.js';
import { AuditLog } from '../platform/audit-log/audit-log.js';
import { Redactor } from '../platform/logging/redactor.js';
import type { CommandContext } from './command-context.js';
import { operatorActor } from './operator-actor.js';
import { type DatabaseAccess, withDatabase } from './with-database.js';

export interface ToolWork {
  readonly known: KnownTools;
  readonly approvals: ToolApprovals;
  /** The person at this command line, for the audit log. */
  readonly by: string;
}

/** Opens known tools and pending approvals. */
export function withTools<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (given: ToolWork) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, access, ({ database, logs }) => {
    const audit = new AuditLog(database, new Redactor(), logs);
    const approvals = new DatabaseToolApprovals(database, audit);
    return work({ known: new KnownTools(database, audit), approvals, by: operatorActor() });
  });
}
