import { type Command, InvalidArgumentError } from 'commander';
import { changeJson, changeLine } from '../change-words.js';
import type { CommandContext } from '../command-context.js';

const MOST_SHOWN = 10_000;

export function addConfigHistoryCommand(config: Command, context: CommandContext): void {
  config
    .command('history')
    .description('show who changed what at run time, newest first; secrets as ***REDACTED***')
    .option('--limit <number>', 'how many changes to show', limitArgument, 20)
    .option('--json', 'print an object, with the values')
    .action(async (options: { readonly limit: number; readonly json?: true }) => {
      const { withConfiguration } = await import('../with-configuration.js');
      const changes = await withConfiguration(context, ({ store }) => store.history(options.limit));
      const { terminal } = context;
      if (options.json) {
        terminal.out(`${JSON.stringify({ changes: changes.map(changeJson) }, undefined, 2)}\n`);
      } else if (changes.length === 0) terminal.err('Nothing was changed at run time.\n');
      else terminal.out(changes.map(changeLine).join(''));
    });
}

function limitArgument(text: string): number {
  if (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_SHOWN) return Number(text);
  throw new InvalidArgumentError(`It is a number from 1 to ${MOST_SHOWN}.`);
}
