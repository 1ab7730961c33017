import type { Command } from 'commander';
import { nearestWord } from '../../config/nearest-key.js';
import type { CommandContext } from '../command-context.js';
import { addTokenCreateCommand, addTokenWish, createToken } from './auth-token-create.command.js';
import { addTokenListCommand } from './auth-token-list.command.js';
import { addTokenMintCommand } from './auth-token-mint.command.js';
import { addTokenRevokeCommand } from './auth-token-revoke.command.js';
import { addTokenRotateCommand } from './auth-token-rotate.command.js';

/** `auth token …`; the bare `auth token` creates a token that may do everything. */
export function addAuthCommands(program: Command, context: CommandContext): void {
  const auth = program.command('auth').description('who may call');
  const token = auth
    .command('token')
    .description('API tokens; without a further word it creates one that may do everything')
    .allowExcessArguments();
  addTokenCreateCommand(token, context);
  addTokenListCommand(token, context);
  addTokenRevokeCommand(token, context);
  addTokenRotateCommand(token, context);
  addTokenMintCommand(token, context);
  addTokenWish(token).action(async (options: Parameters<typeof createToken>[1]) => {
    refuseUnknownWord(token);
    await createToken(context, options);
  });
}

/** Commander suggests a nearby command only where the bare one does nothing. */
function refuseUnknownWord(token: Command): void {
  const [word] = token.args;
  if (word === undefined) return;
  const nearest = nearestWord(
    word,
    token.commands.map((command) => command.name()),
  );
  const hint = nearest === undefined ? '' : `\n(Did you mean ${nearest}?)`;
  token.error(`error: unknown command '${word}'${hint}`, { code: 'commander.unknownCommand' });
}
