import type { Command } from 'commander';
import { HookEnded, HookNotFound } from '../../areas/hooks/hooks.errors.js';
import { agoArgument } from '../arguments.js';
import type { CommandContext } from '../command-context.js';

interface ReplayOptions {
  readonly since?: Date;
  readonly event?: string;
  readonly delivered?: true;
}

export function addHooksReplayCommand(hooks: Command, context: CommandContext): void {
  hooks
    .command('replay')
    .description(
      'send again, in order, what failed or waits for its next attempt; a given up webhook is active again',
    )
    .argument('<hook-id>', 'its id')
    .option('--since <time>', 'only events of the last while, such as 24h or 3d', agoArgument)
    .option('--event <event-id>', 'only this event')
    .option('--delivered', 'also what was delivered already')
    .action(async (hookId: string, { since, event, delivered }: ReplayOptions) => {
      const { withHooks } = await import('../with-hooks.js');
      const request = { since: since ?? new Date(0), eventId: event ?? null, delivered: delivered === true };
      const again = await withHooks(context, 'change', async (admin) => {
        const replayed = await admin.replay(hookId, request);
        if (replayed === undefined)
          throw (await admin.find(hookId)) === undefined ? new HookNotFound() : new HookEnded();
        return replayed;
      });
      context.terminal.err(`${again} deliveries go out again; the webhook is active.\n`);
    });
}
