import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { tokenJson } from '../token-text.js';

export function addTokenRevokeCommand(token: Command, context: CommandContext): void {
  token
    .command('revoke')
    .description('end a token; every gateway on the database refuses it within 1.5 s')
    .argument('<id|name>', 'its id, or its name when only one has it')
    .option('--json', 'print an object')
    .action(async (idOrName: string, options: { readonly json?: true }) => {
      const { withTokens } = await import('../with-tokens.js');
      const revoked = await withTokens(context, 'change', ({ tokens }) => tokens.revoke(idOrName));
      const { terminal } = context;
      if (options.json) terminal.out(`${JSON.stringify(tokenJson(revoked), undefined, 2)}\n`);
      else terminal.err(`token ${revoked.id} "${revoked.name}" is revoked.\n`);
    });
}
