import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { addConfigCheckCommand } from './config-check.command.js';
import { addConfigSchemaCommand } from './config-schema.command.js';
import { addConfigShowCommand } from './config-show.command.js';

/** `config …`: what the file and the environment say. Changes made with PATCH live in the database and are not in it. */
export function addConfigCommands(program: Command, context: CommandContext): void {
  const config = program.command('config').description('the settings of file and environment');
  addConfigCheckCommand(config, context);
  addConfigShowCommand(config, context);
  addConfigSchemaCommand(config, context);
}
