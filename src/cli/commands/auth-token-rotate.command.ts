import type { Command } from 'commander';
import { defaultExpiry } from '../../tokens/token-expiry.js';
import { type ExpiryArgument, expiryArgument } from '../arguments.js';
import type { CommandContext } from '../command-context.js';
import { showMinted } from '../show-minted.js';

interface RotateOptions {
  readonly expiresIn?: ExpiryArgument;
  readonly json?: true;
}

export function addTokenRotateCommand(token: Command, context: CommandContext): void {
  token
    .command('rotate')
    .description('replace a token by a new one with the same name, scopes and user; the old one ends at once')
    .argument('<id|name>', 'its id, or its name when only one has it')
    .option('--expires-in <time>', 'such as 90d or 12h, or never (default: 90d)', expiryArgument)
    .option('--json', 'print an object instead of the token alone')
    .action(async (idOrName: string, options: RotateOptions) => {
      const expiresAt = options.expiresIn === undefined ? defaultExpiry() : options.expiresIn.at;
      await showMinted(context, options, (tokens) => tokens.rotate(idOrName, expiresAt));
    });
}
