import { type Command, Option } from 'commander';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../areas/hooks/hook-admin.js';
import { HookNotFound } from '../../areas/hooks/hooks.errors.js';
import { countArgument } from '../arguments.js';
import type { CommandContext } from '../command-context.js';
import { deliveryTable } from '../hook-text.js';

interface DeliveriesOptions {
  readonly status?: DeliveryStatus;
  readonly limit: number;
  readonly json?: true;
}

export function addHooksDeliveriesCommand(hooks: Command, context: CommandContext): void {
  hooks
    .command('deliveries')
    .description('show the newest deliveries of a webhook and what they came to')
    .argument('<hook-id>', 'its id')
    .addOption(new Option('--status <status>', 'only these').choices(DELIVERY_STATUSES))
    .option('--limit <count>', 'most lines, up to 10000', countArgument, 50)
    .option('--json', 'print an object')
    .action(async (hookId: string, { status, limit, json }: DeliveriesOptions) => {
      const { withHooks } = await import('../with-hooks.js');
      const deliveries = await withHooks(context, 'read', async (admin) => {
        if ((await admin.find(hookId)) === undefined) throw new HookNotFound();
        return admin.recent(hookId, status ?? null, limit);
      });
      const { terminal } = context;
      if (json) terminal.out(`${JSON.stringify({ deliveries }, undefined, 2)}\n`);
      else if (deliveries.length === 0) terminal.err('There are no such deliveries.\n');
      else terminal.out(deliveryTable(deliveries));
    });
}
