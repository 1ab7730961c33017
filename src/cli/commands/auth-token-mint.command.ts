import type { Command } from 'commander';
import { mintToken } from '../../platform/tokens/token-format.js';
import type { CommandContext } from '../command-context.js';

export function addTokenMintCommand(token: Command, { terminal }: CommandContext): void {
  token
    .command('mint')
    .description('print a fresh token and store nothing, for GATEWAY_BOOTSTRAP_TOKEN of a gateway to come')
    .action(() => {
      terminal.out(`${mintToken()}\n`);
      terminal.err('it is no good until a gateway starts with it in GATEWAY_BOOTSTRAP_TOKEN.\n');
    });
}
