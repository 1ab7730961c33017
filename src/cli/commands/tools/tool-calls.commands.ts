import type { Command } from 'commander';
import type { OpenApproval } from '../../../areas/tools/tool-approvals.port.js';
import { inApplication } from '../../application.js';
import { type CommandContext, operatorActor } from '../../command-context.js';
import { CommandFailed } from '../../exit-codes.js';
import { jsonText, printableJson } from '../../terminal-text.js';

const VERDICTS = {
  allow: { verdict: 'allowed', does: 'let a waiting call run' },
  deny: { verdict: 'denied', does: 'refuse a waiting call' },
} as const;

/** `tools pending`, `tools allow` and `tools deny`: calls that wait for a person's approval. */
export function addToolCallCommands(tools: Command, context: CommandContext): void {
  addPending(tools, context);
  addDecision(tools, context, 'allow');
  addDecision(tools, context, 'deny');
}

function addPending(tools: Command, context: CommandContext): void {
  tools
    .command('pending')
    .description('list the calls that wait for a person, oldest first')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      const { ToolApprovals } = await import('../../../areas/tools/tool-approvals.port.js');
      const open = await inApplication(context, 'read', (app) => app.get(ToolApprovals).open());
      const { terminal } = context;
      if (options.json) {
        terminal.out(jsonText({ approvals: open.map(approvalJson) }));
      } else if (open.length === 0) terminal.err('No call waits.\n');
      else terminal.out(open.map(approvalText).join(''));
    });
}

function addDecision(tools: Command, context: CommandContext, decision: 'allow' | 'deny'): void {
  const { verdict, does } = VERDICTS[decision];
  tools
    .command(decision)
    .description(does)
    .argument('<id>', 'from "tools pending"')
    .option('--json', 'print an object')
    .action(async (id: string, options: { readonly json?: true }) => {
      const { ToolApprovals } = await import('../../../areas/tools/tool-approvals.port.js');
      const wasOpen = await inApplication(context, 'change', (app) =>
        app.get(ToolApprovals).answer(id, { verdict, by: operatorActor() }),
      );
      const { terminal } = context;
      if (!wasOpen) {
        terminal.err('No such call waits any more.\n');
        throw new CommandFailed();
      }
      if (options.json) terminal.out(jsonText({ id, status: verdict }));
      else terminal.err(`The call is ${verdict}.\n`);
    });
}

function approvalJson(approval: OpenApproval): Readonly<Record<string, unknown>> {
  return {
    id: approval.id,
    tool: approval.tool,
    arguments: approval.arguments,
    session_id: approval.sessionId,
    channel: approval.channel,
    user_id: approval.userId,
    asked_at: approval.askedAt.toISOString(),
    expires_at: approval.expiresAt.toISOString(),
  };
}

function approvalText({ id, tool, arguments: args, userId, expiresAt }: OpenApproval): string {
  const until = expiresAt.toISOString().slice(11, 19);
  return `${id}  ${tool} for ${printableJson(userId)}, until ${until}Z\n  ${printableJson(args)}\n`;
}
