import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { addTokenCreateCommand } from './auth-token-create.command.js';
import { addTokenListCommand } from './auth-token-list.command.js';
import { addTokenMintCommand } from './auth-token-mint.command.js';
import { addTokenRevokeCommand } from './auth-token-revoke.command.js';
import { addTokenRotateCommand } from './auth-token-rotate.command.js';

/** `auth token …`: who may call the API. */
export function addAuthCommands(program: Command, context: CommandContext): void {
  const auth = program.command('auth').description('who may call');
  const token = auth.command('token').description('API tokens');
  addTokenCreateCommand(token, context);
  addTokenListCommand(token, context);
  addTokenRevokeCommand(token, context);
  addTokenRotateCommand(token, context);
  addTokenMintCommand(token, context);
}
