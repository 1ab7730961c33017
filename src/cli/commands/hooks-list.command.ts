import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { hookTable } from '../hook-text.js';

export function addHooksListCommand(hooks: Command, context: CommandContext): void {
  hooks
    .command('list')
    .description('show all webhooks, how they fare and what waits for them')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      const { withHooks } = await import('../with-hooks.js');
      const list = await withHooks(context, 'read', (admin) => admin.overview());
      const { terminal } = context;
      if (options.json) terminal.out(`${JSON.stringify({ hooks: list }, undefined, 2)}\n`);
      else if (list.length === 0) terminal.err('There are no webhooks.\n');
      else terminal.out(hookTable(list));
    });
}
