import { type Command, Option } from 'commander';
import { HookNotFound } from '../../areas/hooks/hooks.errors.js';
import { newWebhookSecret } from '../../areas/hooks/webhook-secret.js';
import { secondsArgument } from '../arguments.js';
import type { CommandContext } from '../command-context.js';

const DAY_SECS = 86_400;

export function addHooksRotateSecretCommand(hooks: Command, context: CommandContext): void {
  hooks
    .command('rotate-secret')
    .description('give a webhook a new secret and print it alone; the old one signs beside it for a while')
    .argument('<hook-id>', 'its id')
    .addOption(
      new Option('--keep-old <time>', 'how long, such as 24h or 0s')
        .argParser(secondsArgument)
        .default(DAY_SECS, '24h'),
    )
    .action(async (hookId: string, { keepOld }: { readonly keepOld: number }) => {
      const { withHookSecrets } = await import('../with-hooks.js');
      const secret = newWebhookSecret();
      const isThere = await withHookSecrets(context, (store) => store.rotate(hookId, secret, keepOld));
      if (!isThere) throw new HookNotFound();
      context.terminal.out(`${secret}\n`);
      context.terminal.err('it signs from now on and is shown only this once.\n');
    });
}
