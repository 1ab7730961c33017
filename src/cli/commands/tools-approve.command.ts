import type { Command } from 'commander';
import { ToolNeverSeen } from '../../areas/mcp/tools/known-tools.store.js';
import type { CommandContext } from '../command-context.js';

const AFTER_HELP = `
Examples:
  agent-gateway tools list --quarantined      shows what changed
  agent-gateway tools approve files read      takes this tool as it is now
  agent-gateway tools approve files           takes every changed tool of the server as it is now`;

export function addToolsApproveCommand(tools: Command, context: CommandContext): void {
  tools
    .command('approve')
    .description('take changed tools as they are now; every gateway on the database offers them again')
    .argument('<server>', 'the server, as configured')
    .argument('[tool]', "the tool, by the server's own name")
    .addHelpText('after', AFTER_HELP)
    .action(async (server: string, tool: string | undefined) => {
      const { withTools } = await import('../with-tools.js');
      const approved = await withTools(context, 'change', async ({ known, by }) => {
        if (!(await known.hasSeen(server, tool))) throw new ToolNeverSeen(server, tool);
        return known.approve(server, tool, by);
      });
      const { terminal } = context;
      terminal.err(
        approved.length === 0 ? 'Nothing was in quarantine.\n' : `Approved: ${approved.join(', ')}.\n`,
      );
    });
}
