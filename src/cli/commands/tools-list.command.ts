import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { knownToolJson, knownToolText } from '../tool-text.js';

export function addToolsListCommand(tools: Command, context: CommandContext): void {
  tools
    .command('list')
    .description('list the tools that servers ever had, with what changed of those in quarantine')
    .option('--quarantined', 'only those that changed and wait to be approved')
    .option('--json', 'print an object, with the definitions')
    .action(async (options: { readonly quarantined?: true; readonly json?: true }) => {
      const { withTools } = await import('../with-tools.js');
      const known = await withTools(context, 'read', (given) =>
        given.known.list(options.quarantined === true),
      );
      const { terminal } = context;
      if (options.json) {
        terminal.out(`${JSON.stringify({ tools: known.map(knownToolJson) }, undefined, 2)}\n`);
      } else if (known.length === 0) terminal.err('There are none.\n');
      else terminal.out(known.map(knownToolText).join(''));
    });
}
