import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { tokenJson, tokenTable } from '../token-text.js';

export function addTokenListCommand(token: Command, context: CommandContext): void {
  token
    .command('list')
    .description('show all tokens, revoked ones too; never the tokens themselves')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      const { withTokens } = await import('../with-tokens.js');
      const { list, place: location } = await withTokens(context, 'read', async (given) => ({
        list: await given.tokens.list(),
        place: given.location,
      }));
      const { terminal } = context;
      if (options.json) terminal.out(`${JSON.stringify({ tokens: list.map(tokenJson) }, undefined, 2)}\n`);
      else if (list.length === 0) terminal.err(`There are no tokens in ${location}.\n`);
      else terminal.out(tokenTable(list));
    });
}
