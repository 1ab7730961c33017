import type { Command } from 'commander';
import type { AuditFilter } from '../../platform/audit-log/audit.store.js';
import type { AuditAdmin } from '../../platform/audit-log/audit-admin.js';
import type { AuditHead, AuditRow } from '../../platform/audit-log/audit-chain.js';
import type { Verification } from '../../platform/audit-log/audit-verifier.js';
import { inApplication } from '../application.js';
import { agoArgument, countArgument, headArgument } from '../arguments.js';
import type { CommandContext, Terminal } from '../command-context.js';
import { CommandFailed } from '../exit-codes.js';
import { paintOf } from '../paint.js';
import { progressOn } from '../progress.js';
import { namedGateway } from '../remote/with-gateway.js';
import { jsonText } from '../terminal-text.js';
import { textTable } from '../text-table.js';

interface ListOptions extends AuditFilter {
  readonly limit: number;
  readonly json?: true;
}

interface VerifyOptions {
  readonly head?: AuditHead;
  readonly export?: string;
  readonly json?: true;
}

/** `audit …`: who did what, and whether the record of it is as it was written. */
export function addAuditCommands(program: Command, context: CommandContext): void {
  const audit = program
    .command('audit')
    .description('who did what, from where; reading the audit is audited, too');
  addList(audit, context);
  addExport(audit, context);
  addVerify(audit, context);
}

function addList(audit: Command, context: CommandContext): void {
  audit
    .command('list')
    .description('show the newest rows')
    .option('--actor <name>', 'only what this token, user or person did')
    .option('--action <action>', 'only this, such as token.created')
    .option('--subject <name>', 'only what was done to this')
    .option('--since <time>', 'only what is newer than this, such as 24h or 3d', agoArgument)
    .option('--limit <count>', 'most rows, up to 10000', countArgument, 50)
    .option('--json', 'print an object')
    .action(async ({ limit, json, ...filter }: ListOptions) => {
      const rows = await rowsOf(context, filter, limit);
      const { terminal } = context;
      if (json) terminal.out(jsonText({ items: rows }));
      else if (rows.length === 0) terminal.err('The audit has no such rows.\n');
      else terminal.out(auditTable(rows, terminal));
    });
}

/** From the named gateway, else from the database of the settings. */
async function rowsOf(
  context: CommandContext,
  filter: AuditFilter,
  limit: number,
): Promise<readonly ShownRow[]> {
  const gateway = namedGateway(context);
  if (gateway === undefined) {
    return (await withAudit(context, (admin) => admin.list(filter, limit))).map(rowJson);
  }
  const { actor, action, subject, since } = filter;
  const query = { actor, action, subject, since: since?.toISOString() };
  return gateway.items<ShownRow>('/admin/v1/audit', query, limit);
}

function addExport(audit: Command, context: CommandContext): void {
  audit
    .command('export')
    .description(
      'print the whole audit as NDJSON, oldest first, its head last; keep it where this database is not',
    )
    .action(async () => {
      const { terminal } = context;
      const progress = progressOn(terminal, 'audit export');
      const head = await withAudit(context, (admin) =>
        admin
          .exportTo(
            (line) => terminal.out(line),
            (done, all) => progress.show(done, all),
          )
          .finally(() => progress.end()),
      );
      terminal.err(`The head is ${head.sequence}:${head.hash}\n`);
    });
}

function addVerify(audit: Command, context: CommandContext): void {
  audit
    .command('verify')
    .description('recompute every hash of the chain; fails when a row was changed, removed or moved')
    .option('--head <sequence:hash>', 'an exported head; shows whether the end was removed', headArgument)
    .option(
      '--export <file>',
      'an exported file, which is checked too; also shows whether the end was removed',
    )
    .option('--json', 'print an object')
    .action(async ({ head, export: file, json }: VerifyOptions) => {
      const { terminal } = context;
      const progress = progressOn(terminal, 'audit verify');
      const verified = await withAudit(context, (admin) =>
        admin.verify({ head, file }, (done, all) => progress.show(done, all)).finally(() => progress.end()),
      );
      if (json) terminal.out(jsonText(verified));
      else terminal.out(verifiedText(verified));
      if (verified.problems.length > 0) throw new CommandFailed();
    });
}

type ShownRow = ReturnType<typeof rowJson>;

function rowJson({ id, at, actor, address, action, subject, result, sessionId, details }: AuditRow) {
  const session = sessionId === null ? {} : { session_id: sessionId };
  return {
    id,
    at: at.toISOString(),
    actor,
    address,
    action,
    subject,
    result,
    details: { ...details, ...session },
  };
}

function auditTable(rows: readonly ShownRow[], { isColored = false }: Terminal): string {
  const head = ['AT', 'ACTOR', 'FROM', 'ACTION', 'SUBJECT', 'RESULT'];
  const cells = rows.map(({ at, actor, address, action, subject, result }) => [
    `${at.slice(0, 19)}Z`,
    ...[actor, address ?? '-', action, subject, result],
  ]);
  return textTable([head, ...cells], { width: 100, folded: [1, 2, 4], paint: paintOf(isColored) });
}

function verifiedText({ problems, rows, start, head }: Verification): string {
  const from = start.sequence === 0 ? '' : `, from the checkpoint at ${start.sequence} on`;
  if (problems.length > 0) return `${problems.join('\n')}\n`;
  return `All ${rows} rows are as they were written${from}. The head is ${head.sequence}:${head.hash}\n`;
}

/** Works on the audit. Reading is audited itself, so the schema must be current. */
async function withAudit<Result>(
  context: CommandContext,
  work: (admin: AuditAdmin) => Promise<Result>,
): Promise<Result> {
  const { AuditAdmin: Admin } = await import('../../platform/audit-log/audit-admin.js');
  return inApplication(context, 'change', (app) => work(app.get(Admin)));
}
