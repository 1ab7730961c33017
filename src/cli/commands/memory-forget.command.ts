import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';

export function addMemoryForgetCommand(memory: Command, context: CommandContext): void {
  memory
    .command('forget')
    .description('delete everything that is remembered of a user, for good; their sessions stay')
    .requiredOption('--user <id>', 'the user_id of their sessions; of a channel, such as telegram:4711')
    .action(async ({ user }: { readonly user: string }) => {
      const { withMemory } = await import('../with-memory.js');
      const { operatorActor } = await import('../operator-actor.js');
      const entries = await withMemory(context, 'change', (admin) => admin.forgetUser(user, operatorActor()));
      context.terminal.err(
        entries === 0 ? 'Nothing was remembered of this user.\n' : `Forgotten: ${entries} memories.\n`,
      );
    });
}
