import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { addMemoryForgetCommand } from './memory-forget.command.js';
import { addMemoryListCommand } from './memory-list.command.js';

/** `memory …`: what is remembered of one user, for whoever has to tell or to delete it. */
export function addMemoryCommands(program: Command, context: CommandContext): void {
  const memory = program.command('memory').description('what is remembered of a user');
  addMemoryListCommand(memory, context);
  addMemoryForgetCommand(memory, context);
}
