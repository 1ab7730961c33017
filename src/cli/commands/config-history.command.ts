import type { Command } from 'commander';
import { countArgument } from '../arguments.js';
import { changeJson, changeLine } from '../change-text.js';
import type { CommandContext } from '../command-context.js';

export function addConfigHistoryCommand(config: Command, context: CommandContext): void {
  config
    .command('history')
    .description('show who changed what at run time, newest first; secrets as ***REDACTED***')
    .option('--limit <number>', 'how many changes to show', countArgument, 20)
    .option('--json', 'print an object, with the values')
    .action(async (options: { readonly limit: number; readonly json?: true }) => {
      const [{ withDatabase }, { ConfigStore }] = await Promise.all([
        import('../with-database.js'),
        import('../../platform/settings/config.store.js'),
      ]);
      const changes = await withDatabase(context, 'read', ({ database }) =>
        new ConfigStore(database).history(options.limit),
      );
      const { terminal } = context;
      if (options.json) {
        terminal.out(`${JSON.stringify({ changes: changes.map(changeJson) }, undefined, 2)}\n`);
      } else if (changes.length === 0) terminal.err('Nothing was changed at run time.\n');
      else terminal.out(changes.map(changeLine).join(''));
    });
}
