import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { addToolsAnswerCommand } from './tools-answer.command.js';
import { addToolsApproveCommand } from './tools-approve.command.js';
import { addToolsListCommand } from './tools-list.command.js';
import { addToolsPendingCommand } from './tools-pending.command.js';

/** `tools …`: what tool servers say of their tools, and calls that wait for a person. */
export function addToolsCommands(program: Command, context: CommandContext): void {
  const tools = program.command('tools').description('tools of servers, and calls that wait for a person');
  addToolsListCommand(tools, context);
  addToolsApproveCommand(tools, context);
  addToolsPendingCommand(tools, context);
  addToolsAnswerCommand(tools, context, 'allow');
  addToolsAnswerCommand(tools, context, 'deny');
}
