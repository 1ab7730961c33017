import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { approvalJson, approvalText } from '../tool-text.js';

export function addToolsPendingCommand(tools: Command, context: CommandContext): void {
  tools
    .command('pending')
    .description('list the calls that wait for a person, oldest first')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      const { withTools } = await import('../with-tools.js');
      const open = await withTools(context, 'read', ({ approvals }) => approvals.open());
      const { terminal } = context;
      if (options.json) {
        terminal.out(`${JSON.stringify({ approvals: open.map(approvalJson) }, undefined, 2)}\n`);
      } else if (open.length === 0) terminal.err('No call waits.\n');
      else terminal.out(open.map(approvalText).join(''));
    });
}
