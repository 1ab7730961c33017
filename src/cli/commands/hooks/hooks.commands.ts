import { type Command, Option } from 'commander';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../../areas/hooks/delivery.js';
import type { DeliveryOverview, HookOverview } from '../../../areas/hooks/hook-admin.js';
import { HookNotFound } from '../../../areas/hooks/hooks.errors.js';
import { newWebhookSecret } from '../../../common/text/webhook-secret.js';
import { SUBSCRIBABLE } from '../../../platform/events/event-catalogue.js';
import { inApplication } from '../../application.js';
import { countArgument, namesArgument } from '../../arguments.js';
import type { CommandContext, Terminal } from '../../command-context.js';
import { paintOf } from '../../paint.js';
import { act, type JsonOption } from '../../remote/list-command.js';
import { gatewayOf, namedGateway } from '../../remote/with-gateway.js';
import { jsonText, printable } from '../../terminal-text.js';
import { textTable } from '../../text-table.js';
import { addHookRepairCommands, lastOf } from './hook-repairs.commands.js';

/** More than a gateway may have. */
const MOST_HOOKS = 10_000;
const WIDTH = 100;

interface DeliveriesOptions {
  readonly status?: DeliveryStatus;
  readonly limit: number;
  readonly json?: true;
}

/** `hooks …`: what operators look up and repair; callers register webhooks over the API. */
export function addHooksCommands(program: Command, context: CommandContext): void {
  const hooks = program.command('hooks').description('webhooks and their deliveries');
  addList(hooks, context);
  addDeliveries(hooks, context);
  addHookRepairCommands(hooks, context);
  addRemoteHookCommands(hooks, context);
}

function addList(hooks: Command, context: CommandContext): void {
  hooks
    .command('list')
    .description('list all webhooks with their state and how many deliveries wait')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      const list = await hooksOf(context);
      const { terminal } = context;
      if (options.json) terminal.out(jsonText({ hooks: list }));
      else if (list.length === 0) terminal.err('There are no webhooks.\n');
      else terminal.out(hookTable(list, terminal));
    });
}

function addDeliveries(hooks: Command, context: CommandContext): void {
  hooks
    .command('deliveries')
    .description('show the newest deliveries of a webhook and their results')
    .argument('<hook-id>', 'its id')
    .addOption(new Option('--status <status>', 'only these').choices(DELIVERY_STATUSES))
    .option('--limit <count>', 'most lines, up to 10000', countArgument, 50)
    .option('--json', 'print an object')
    .action(async (hookId: string, { status, limit, json }: DeliveriesOptions) => {
      const deliveries = await deliveriesOf(context, hookId, status, limit);
      const { terminal } = context;
      if (json) terminal.out(jsonText({ deliveries }));
      else if (deliveries.length === 0) terminal.err('There are no such deliveries.\n');
      else terminal.out(deliveryTable(deliveries, terminal));
    });
}

/** From the named gateway, else from the database of the settings. */
async function hooksOf(context: CommandContext): Promise<readonly HookOverview[]> {
  const gateway = namedGateway(context);
  if (gateway !== undefined)
    return (await gateway.items<Sent<HookOverview>>('/admin/v1/hooks', {}, MOST_HOOKS)).map((hook) => ({
      ...hook,
      failing_since: dateOf(hook.failing_since),
      created_at: new Date(hook.created_at),
    }));
  const { HookAdmin } = await import('../../../areas/hooks/hook-admin.js');
  return inApplication(context, 'read', (app) => app.get(HookAdmin).overview());
}

/** The same. Deliveries of a gateway have the number that `redeliver` takes. */
async function deliveriesOf(
  context: CommandContext,
  hook: string,
  status: DeliveryStatus | undefined,
  limit: number,
): Promise<readonly ShownDelivery[]> {
  const gateway = namedGateway(context);
  if (gateway !== undefined) {
    const sent = await gateway.items<Sent<ShownDelivery>>('/admin/v1/deliveries', { hook, status }, limit);
    // The gateway filters by it, whether or not there is such a webhook.
    if (sent.length === 0 && !(await hooksOf(context)).some(({ id }) => id === hook))
      throw new HookNotFound();
    return sent.map((delivery) => ({
      ...delivery,
      created_at: new Date(delivery.created_at),
      next_attempt_at: dateOf(delivery.next_attempt_at),
    }));
  }
  const { HookAdmin } = await import('../../../areas/hooks/hook-admin.js');
  return inApplication(context, 'read', async (app) => {
    const admin = app.get(HookAdmin);
    if ((await admin.find(hook)) === undefined) throw new HookNotFound();
    return admin.recent(hook, status ?? null, limit);
  });
}

type ShownDelivery = DeliveryOverview & { readonly id?: string };
/** In the form of the JSON output. */
type Sent<Of> = {
  readonly [Key in keyof Of]: Of[Key] extends Date | null
    ? null extends Of[Key]
      ? string | null
      : string
    : Of[Key];
};

const dateOf = (moment: string | null): Date | null => (moment === null ? null : new Date(moment));

/** The webhooks as a table with a head, for people. */
function hookTable(hooks: readonly HookOverview[], { isColored = false }: Terminal): string {
  const head = ['ID', 'STATE', 'WAITING', 'EVENTS', 'URL'];
  const rows = hooks.map((hook) => [
    ...[hook.id, stateOf(hook), String(hook.waiting), hook.events.join(','), hook.url],
  ]);
  return textTable([head, ...rows], { width: WIDTH, folded: [1, 3, 4], paint: paintOf(isColored) });
}

function deliveryTable(deliveries: readonly ShownDelivery[], { isColored = false }: Terminal): string {
  const isRemote = deliveries.some(({ id }) => id !== undefined);
  const head = [
    isRemote ? 'ID' : 'EVENT ID',
    'EVENT',
    'NUMBER',
    'STATUS',
    'TRIES',
    'LAST',
    'CREATED',
    'NEXT ATTEMPT',
  ];
  const rows = deliveries.map((delivery) => [
    delivery.id ?? delivery.event_id,
    delivery.event,
    String(delivery.sequence ?? '-'),
    delivery.status,
    String(delivery.attempts),
    lastOf(delivery),
    second(delivery.created_at),
    delivery.next_attempt_at === null ? '-' : second(delivery.next_attempt_at),
  ]);
  // Ids of events alone take a third of the usual width.
  const width = isRemote ? WIDTH : WIDTH + 40;
  return textTable([head, ...rows], { width, folded: [1, 5], paint: paintOf(isColored) });
}

function stateOf({ active, inactive_reason: reason, failing_since: failing }: HookOverview): string {
  if (!active) return `given up (${reason ?? 'unknown'})`;
  return failing === null ? 'active' : `failing since ${second(failing)}`;
}

/** `2026-01-31 14:05:09Z` */
function second(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

interface CreateOptions extends JsonOption {
  readonly events: readonly string[];
  readonly unsigned?: true;
}

interface Created {
  readonly id: string;
  readonly url: string;
}

/**
 * `hooks create`, `delete` and `redeliver`: done as a caller of a running gateway, because a webhook belongs to its
 * token.
 */
function addRemoteHookCommands(hooks: Command, context: CommandContext): void {
  hooks
    .command('create')
    .description('register a webhook at a running gateway (--url) and print its new secret alone')
    .argument('<address>', 'where events are delivered')
    .option('--events <names>', 'comma-separated names, such as session.created,message.*', namesArgument, [
      '*',
    ])
    .option('--unsigned', 'without a secret: the receiver cannot tell who calls it')
    .option('--json', 'print an object')
    .addHelpText('after', `\nEvents: ${SUBSCRIBABLE.join(', ')}`)
    .action(async (url: string, { events, unsigned, json: asJson }: CreateOptions) => {
      const { terminal } = context;
      const secret = unsigned ? undefined : newWebhookSecret();
      const body = { url, events, ...(secret !== undefined && { secret }) };
      const created = await gatewayOf(context).post<Created>('/api/v1/hooks', body);
      if (asJson) {
        terminal.out(jsonText({ ...created, secret: secret ?? null }));
        return;
      }
      if (secret !== undefined) terminal.out(`${secret}\n`);
      const remark = secret === undefined ? '' : ' Its secret is shown only this once.';
      terminal.err(`${printable(created.id)} is registered.${remark}\n`);
    });
  act(hooks, context, 'delete', 'delete a webhook of a running gateway (--url)', async (id) => {
    await gatewayOf(context).delete(`/api/v1/hooks/${encodeURIComponent(id)}`);
    return { id, status: 'deleted' };
  });
  act(hooks, context, 'redeliver', 'send one delivery once more, by its number (--url)', (id) =>
    gatewayOf(context).post(`/admin/v1/deliveries/${encodeURIComponent(id)}/redeliver`),
  );
}
