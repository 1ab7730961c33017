import type { Command } from 'commander';
import { inApplication } from '../application.js';
import { type CommandContext, operatorActor } from '../command-context.js';
import { jsonLine, jsonText } from '../terminal-text.js';

interface UserOptions {
  readonly user: string;
  readonly json?: true;
}

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
    .option('--json', 'print one object instead')
    .action(async ({ user, json }: UserOptions) => {
      const { MemoryAdmin } = await import('../../areas/memory/memory-admin.js');
      const entries = await inApplication(context, 'read', (app) => app.get(MemoryAdmin).list(user));
      const { terminal } = context;
      const memories = entries.map(({ id, createdAt, content }) => ({
        ...{ id, remembered_at: createdAt.toISOString(), content },
      }));
      if (json) terminal.out(jsonText({ memories }));
      else if (memories.length === 0) terminal.err('Nothing is remembered of this user.\n');
      else for (const one of memories) terminal.out(jsonLine(one));
    });
}

function addForget(memory: Command, context: CommandContext): void {
  memory
    .command('forget')
    .description('delete all memories of a user for good; their sessions stay')
    .requiredOption('--user <id>', 'the user_id of their sessions; from a channel, such as telegram:4711')
    .option('--json', 'print an object')
    .action(async ({ user, json }: UserOptions) => {
      const { MemoryAdmin } = await import('../../areas/memory/memory-admin.js');
      const entries = await inApplication(context, 'change', (app) =>
        app.get(MemoryAdmin).forgetUser(user, operatorActor()),
      );
      if (json) context.terminal.out(jsonText({ forgotten: entries }));
      else
        context.terminal.err(
          entries === 0 ? 'Nothing was remembered of this user.\n' : `Forgotten: ${entries} memories.\n`,
        );
    });
}
