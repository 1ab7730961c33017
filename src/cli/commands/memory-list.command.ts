import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';

export function addMemoryListCommand(memory: Command, context: CommandContext): void {
  memory
    .command('list')
    .description('print everything that is remembered of a user, the newest first, as JSON lines')
    .requiredOption('--user <id>', 'the user_id of their sessions; of a channel, such as telegram:4711')
    .action(async ({ user }: { readonly user: string }) => {
      const { withMemory } = await import('../with-memory.js');
      const entries = await withMemory(context, 'read', (admin) => admin.list(user));
      const { terminal } = context;
      if (entries.length === 0) terminal.err('Nothing is remembered of this user.\n');
      for (const { id, createdAt, content } of entries) {
        terminal.out(`${JSON.stringify({ id, remembered_at: createdAt.toISOString(), content })}\n`);
      }
    });
}
