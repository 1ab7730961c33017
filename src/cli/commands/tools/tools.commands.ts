import type { Command } from 'commander';
import type { KnownTool } from '../../../areas/mcp/tools/known-tools.store.js';
import type { OpenApproval } from '../../../areas/tools/tool-approvals.port.js';
import { inApplication } from '../../application.js';
import { type CommandContext, operatorActor } from '../../command-context.js';
import { CommandFailed } from '../../exit-codes.js';
import { jsonText, printableJson } from '../../terminal-text.js';
import { addQuestionCommands } from './tool-questions.commands.js';

const APPROVE_EXAMPLES = `
Examples:
  agent-gateway tools list --quarantined      shows what changed
  agent-gateway tools approve files read      accepts this tool as it is now
  agent-gateway tools approve files           accepts every changed tool of the server as it is now`;

/** `tools …`: the definitions that tool servers gave, calls that wait for a person's approval, and what tools ask. */
export function addToolsCommands(program: Command, context: CommandContext): void {
  const tools = program
    .command('tools')
    .description('tools of servers, and calls that wait for a person to approve them');
  addList(tools, context);
  addApprove(tools, context);
  addToolCallCommands(tools, context);
  addQuestionCommands(tools, context);
}

function addList(tools: Command, context: CommandContext): void {
  tools
    .command('list')
    .description('list all tools that servers have ever offered, and what changed in those in quarantine')
    .option('--quarantined', 'only those that changed and wait for approval')
    .option('--json', 'print an object, with the definitions')
    .action(async (options: { readonly quarantined?: true; readonly json?: true }) => {
      const { KnownTools } = await import('../../../areas/mcp/tools/known-tools.store.js');
      const known = await inApplication(context, 'read', (app) =>
        app.get(KnownTools).list(options.quarantined === true),
      );
      const { terminal } = context;
      if (options.json) {
        terminal.out(jsonText({ tools: known.map(knownToolJson) }));
      } else if (known.length === 0) terminal.err('There are no such tools.\n');
      else terminal.out(known.map(knownToolText).join(''));
    });
}

function addApprove(tools: Command, context: CommandContext): void {
  tools
    .command('approve')
    .description('accept changed tools as they are now; every gateway on the database offers them again')
    .argument('<server>', 'the server, as configured')
    .argument('[tool]', "the tool, by the server's own name")
    .option('--json', 'print an object')
    .addHelpText('after', APPROVE_EXAMPLES)
    .action(async (server: string, tool: string | undefined, options: { readonly json?: true }) => {
      const { KnownTools, ToolNeverSeen } = await import('../../../areas/mcp/tools/known-tools.store.js');
      const approved = await inApplication(context, 'change', async (app) => {
        const known = app.get(KnownTools);
        if (!(await known.hasSeen(server, tool))) throw new ToolNeverSeen(server, tool);
        return known.approve(server, tool, operatorActor());
      });
      const { terminal } = context;
      if (options.json) terminal.out(jsonText({ approved }));
      else
        terminal.err(
          approved.length === 0 ? 'Nothing was in quarantine.\n' : `Approved: ${approved.join(', ')}.\n`,
        );
    });
}

/** A tool as `--json` shows it: the approved definition and, in quarantine, the pending one. */
function knownToolJson(known: KnownTool): Readonly<Record<string, unknown>> {
  return {
    server: known.server,
    tool: known.tool,
    state: known.pending === null ? 'approved' : 'quarantined',
    first_seen_at: known.firstSeenAt.toISOString(),
    changed_at: known.changedAt?.toISOString() ?? null,
    definition: known.definition,
    pending: known.pending,
  };
}

/** One line for a tool; for one in quarantine also each changed part before and after. */
function knownToolText({ server, tool, definition, pending }: KnownTool): string {
  if (pending === null) return `approved     ${server} ${tool}\n`;
  const parts = (['description', 'inputSchema', 'annotations'] as const)
    .filter((part) => JSON.stringify(definition[part]) !== JSON.stringify(pending[part]))
    .map(
      (part) => `  ${part}\n  - ${printableJson(definition[part])}\n  + ${printableJson(pending[part])}\n`,
    );
  return `quarantined  ${server} ${tool}\n${parts.join('')}`;
}

const VERDICTS = {
  allow: { verdict: 'allowed', does: 'let a waiting call run' },
  deny: { verdict: 'denied', does: 'refuse a waiting call' },
} as const;

/** `tools pending`, `tools allow` and `tools deny`: calls that wait for a person's approval. */
function addToolCallCommands(tools: Command, context: CommandContext): void {
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
