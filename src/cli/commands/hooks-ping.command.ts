import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { DeliveryOverview, HookDesk } from '../../areas/hooks/hook-desk.js';
import { HookEnded, HookGivenUp, HookNotFound } from '../../areas/hooks/hooks.errors.js';
import type { CommandContext } from '../command-context.js';
import { CommandFailed } from '../command-failed.js';
import { lastOf } from '../hook-words.js';

/** Longer than an attempt may take. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 200;

export function addHooksPingCommand(hooks: Command, context: CommandContext): void {
  hooks
    .command('ping')
    .description('send a hook.ping event to a webhook, and wait for what it answers')
    .argument('<hook-id>', 'its id')
    .action(async (hookId: string) => {
      const { withHooks } = await import('../with-hooks.js');
      const delivery = await withHooks(context, 'change', (desk) => ping(desk, hookId));
      const { terminal } = context;
      if (delivery.status === 'delivered') {
        terminal.err(`${delivery.event_id} was answered with ${lastOf(delivery)}.\n`);
        return;
      }
      const what = delivery.attempts === 0 ? 'has not been sent yet: does a gateway run?' : lastOf(delivery);
      terminal.err(`${delivery.event_id}: ${what}\n`);
      throw new CommandFailed();
    });
}

/** Throws `HookNotFound`, or `HookGivenUp` for a hook that gets nothing any more. */
async function ping(desk: HookDesk, hookId: string): Promise<DeliveryOverview> {
  const eventId = await desk.ping(hookId);
  if (eventId === undefined) throw await whyNot(desk, hookId);
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const delivery = await desk.delivery(eventId, hookId);
    if (delivery === undefined) throw new HookNotFound();
    if (delivery.attempts > 0 || waitedMs >= PATIENCE_MS) return delivery;
    await sleep(LOOK_MS);
  }
}

async function whyNot(desk: HookDesk, hookId: string): Promise<Error> {
  const hook = await desk.find(hookId);
  if (hook === undefined) return new HookNotFound();
  return hook.inactive_reason === 'token_revoked'
    ? new HookEnded()
    : new HookGivenUp(hookId, hook.inactive_reason);
}
