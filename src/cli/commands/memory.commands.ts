import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { jsonLine } from '../terminal-text.js';

/** `memory …`: what the gateway remembers of one user, to answer a request for their data or to delete it. */
export function addMemoryCommands(program: Command, context: CommandContext): void {
  const memory = program.command('memory').description('what the gateway remembers of a user');
  addList(memory, context);
  addForget(memory, context);
}

function addList(memory: Command, context: CommandContext): void {
  memory
    .command('list')
    .description('print all memories of a user as JSON lines, newest first')
    .requiredOption('--user <id>', 'the user_id of their sessions; from a channel, such as telegram:4711')
    .action(async ({ user }: { readonly user: string }) => {
      const { withMemory } = await import('../with-areas.js');
      const entries = await withMemory(context, 'read', (admin) => admin.list(user));
      const { terminal } = context;
      if (entries.length === 0) terminal.err('Nothing is remembered of this user.\n');
      for (const { id, createdAt, content } of entries) {
        terminal.out(jsonLine({ id, remembered_at: createdAt.toISOString(), content }));
      }
    });
}

function addForget(memory: Command, context: CommandContext): void {
  memory
    .command('forget')
    .description('delete all memories of a user for good; their sessions stay')
    .requiredOption('--user <id>', 'the user_id of their sessions; from a channel, such as telegram:4711')
    .action(async ({ user }: { readonly user: string }) => {
      const { withMemory } = await import('../with-areas.js');
      const { operatorActor } = await import('../command-context.js');
      const entries = await withMemory(context, 'change', (admin) => admin.forgetUser(user, operatorActor()));
      context.terminal.err(
        entries === 0 ? 'Nothing was remembered of this user.\n' : `Forgotten: ${entries} memories.\n`,
      );
    });
}
