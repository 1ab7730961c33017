import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { DeliveryOverview, HookAdmin } from '../../areas/hooks/hook-admin.js';
import { HookEnded, HookGivenUp, HookNotFound } from '../../areas/hooks/hooks.errors.js';
import type { CommandContext } from '../command-context.js';
import { CommandFailed } from '../command-failed.js';
import { lastOf } from '../hook-text.js';

/** Longer than an attempt may take. */
const TIMEOUT_MS = 20_000;
const POLL_MS = 200;

export function addHooksPingCommand(hooks: Command, context: CommandContext): void {
  hooks
    .command('ping')
    .description('send a hook.ping event to a webhook, and wait for what it answers')
    .argument('<hook-id>', 'its id')
    .action(async (hookId: string) => {
      const { withHooks } = await import('../with-hooks.js');
      const delivery = await withHooks(context, 'change', (admin) => ping(admin, hookId));
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
async function ping(admin: HookAdmin, hookId: string): Promise<DeliveryOverview> {
  const eventId = await admin.ping(hookId);
  if (eventId === undefined) throw await whyNot(admin, hookId);
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const delivery = await admin.delivery(eventId, hookId);
    if (delivery === undefined) throw new HookNotFound();
    if (delivery.attempts > 0 || waitedMs >= TIMEOUT_MS) return delivery;
    await sleep(POLL_MS);
  }
}

async function whyNot(admin: HookAdmin, hookId: string): Promise<Error> {
  const hook = await admin.find(hookId);
  if (hook === undefined) return new HookNotFound();
  return hook.inactive_reason === 'token_revoked'
    ? new HookEnded()
    : new HookGivenUp(hookId, hook.inactive_reason);
}
