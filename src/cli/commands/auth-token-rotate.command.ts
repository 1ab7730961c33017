import { type Command, Option } from 'commander';
import { type ExpiryArgument, expiryArgument, secondsArgument } from '../arguments.js';
import type { CommandContext } from '../command-context.js';
import { showMinted } from '../show-minted.js';

const AFTER_HELP = `
Examples:
  agent-gateway auth token rotate ci                    the old token ends at once
  agent-gateway auth token rotate ci --keep-old 1h      the old token works for another hour`;

interface RotateOptions {
  readonly expiresIn?: ExpiryArgument;
  readonly keepOld?: number;
  readonly json?: true;
}

export function addTokenRotateCommand(token: Command, context: CommandContext): void {
  token
    .command('rotate')
    .description('replace a token by a new one with the same name, scopes and user; the old one ends at once')
    .argument('<id|name>', 'its id, or its name when only one has it')
    .option(
      '--expires-in <time>',
      'such as 90d or 12h, or never (default: never for a token that never expires, else 90d)',
      expiryArgument,
    )
    .addOption(
      new Option('--keep-old [time]', 'let the old one work beside it for a while, such as 24h')
        .argParser(secondsArgument)
        .preset('24h'),
    )
    .option('--json', 'print an object instead of the token alone')
    .addHelpText('after', AFTER_HELP)
    .action(async (idOrName: string, options: RotateOptions) => {
      const keepOldSecs = options.keepOld ?? 0;
      const wish = { expiresAt: options.expiresIn?.at, keepOldSecs };
      await showMinted(context, 'change', options, (tokens) => tokens.rotate(idOrName, wish));
      const until = new Date(Date.now() + keepOldSecs * 1000).toISOString();
      if (keepOldSecs > 0) context.terminal.err(`The old token works until ${until} at the latest.\n`);
    });
}
