import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { addConfigCheckCommand } from './config-check.command.js';
import { addConfigHistoryCommand } from './config-history.command.js';
import { addConfigRollbackCommand } from './config-rollback.command.js';
import { addConfigSchemaCommand } from './config-schema.command.js';
import { addConfigShowCommand } from './config-show.command.js';

/** `config …`: what file and environment say, and what was changed at run time, which lives in the database. */
export function addConfigCommands(program: Command, context: CommandContext): void {
  const config = program.command('config').description('the settings, and what was changed at run time');
  addConfigCheckCommand(config, context);
  addConfigShowCommand(config, context);
  addConfigSchemaCommand(config, context);
  addConfigHistoryCommand(config, context);
  addConfigRollbackCommand(config, context);
}
