import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { addHooksDeliveriesCommand } from './hooks-deliveries.command.js';
import { addHooksListCommand } from './hooks-list.command.js';
import { addHooksPingCommand } from './hooks-ping.command.js';
import { addHooksReplayCommand } from './hooks-replay.command.js';
import { addHooksRotateSecretCommand } from './hooks-rotate-secret.command.js';

/** `hooks …`: what operators look up and set right; callers register webhooks over the API. */
export function addHooksCommands(program: Command, context: CommandContext): void {
  const hooks = program.command('hooks').description('webhooks and their deliveries');
  addHooksListCommand(hooks, context);
  addHooksDeliveriesCommand(hooks, context);
  addHooksReplayCommand(hooks, context);
  addHooksRotateSecretCommand(hooks, context);
  addHooksPingCommand(hooks, context);
}
