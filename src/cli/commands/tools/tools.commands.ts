import type { Command } from 'commander';
import type { KnownTool } from '../../../areas/mcp/tools/known-tools.store.js';
import { inApplication } from '../../application.js';
import { type CommandContext, operatorActor } from '../../command-context.js';
import { jsonText, printableJson } from '../../terminal-text.js';
import { addToolCallCommands } from './tool-calls.commands.js';
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
