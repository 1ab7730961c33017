import type { Command } from 'commander';
import { inApplication } from '../application.js';
import type { CommandContext } from '../command-context.js';
import { CommandFailed } from '../exit-codes.js';
import { progressOn } from '../progress.js';
import { jsonText } from '../terminal-text.js';

/** `secrets …`: the key that seals secrets in the database. */
export function addSecretsCommands(program: Command, context: CommandContext): void {
  const secrets = program
    .command('secrets')
    .description('the master key, which seals secrets in the database');
  secrets
    .command('rotate')
    .description(
      'seal every secret with GATEWAY_MASTER_KEY that GATEWAY_MASTER_KEY_PREVIOUS sealed; replicas that have both go on',
    )
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      const { KeyRotation } = await import('../../platform/secrets/key-rotation.js');
      const { terminal } = context;
      const progress = progressOn(terminal, 'secrets rotate');
      const { resealed, unreadable } = await inApplication(
        context,
        { access: 'change', opens: 'secrets' },
        (app) =>
          app
            .get(KeyRotation)
            .run((done, all) => progress.show(done, all))
            .finally(() => progress.end()),
      );
      if (options.json) terminal.out(jsonText({ resealed, unreadable }));
      terminal.err(`${resealed} secrets are sealed with the new key.\n`);
      if (unreadable === 0) {
        terminal.err('GATEWAY_MASTER_KEY_PREVIOUS can be removed.\n');
        return;
      }
      terminal.err(`${unreadable} could be opened with neither key; they were left as they are.\n`);
      throw new CommandFailed();
    });
}
