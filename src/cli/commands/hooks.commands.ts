import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../areas/hooks/delivery.js';
import type { DeliveryOverview, HookAdmin, HookOverview } from '../../areas/hooks/hook-admin.js';
import { HookEnded, HookGivenUp, HookNotFound } from '../../areas/hooks/hooks.errors.js';
import { newWebhookSecret } from '../../common/text/webhook-secret.js';
import { agoArgument, countArgument, secondsArgument } from '../arguments.js';
import type { CommandContext, Terminal } from '../command-context.js';
import { CommandFailed } from '../exit-codes.js';
import { paintOf } from '../paint.js';
import { namedGateway } from '../remote/with-gateway.js';
import { jsonText } from '../terminal-text.js';
import { textTable } from '../text-table.js';
import { addRemoteHookCommands } from './remote-hooks.commands.js';

const DAY_SECS = 86_400;
/** More than a gateway may have. */
const MOST_HOOKS = 10_000;
const WIDTH = 100;
/** How long `ping` waits: longer than an attempt may take. */
const PING_TIMEOUT_MS = 20_000;
const PING_POLL_MS = 200;

interface DeliveriesOptions {
  readonly status?: DeliveryStatus;
  readonly limit: number;
  readonly json?: true;
}

interface ReplayOptions {
  readonly since?: Date;
  readonly event?: string;
  readonly delivered?: true;
  readonly json?: true;
}

interface RotateOptions {
  readonly keepOld: number;
  readonly json?: true;
}

/** `hooks …`: what operators look up and repair; callers register webhooks over the API. */
export function addHooksCommands(program: Command, context: CommandContext): void {
  const hooks = program.command('hooks').description('webhooks and their deliveries');
  addList(hooks, context);
  addDeliveries(hooks, context);
  addReplay(hooks, context);
  addRotateSecret(hooks, context);
  addPing(hooks, context);
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

/** Of the gateway that is named, else of the database of the settings. */
async function hooksOf(context: CommandContext): Promise<readonly HookOverview[]> {
  const gateway = namedGateway(context);
  if (gateway !== undefined)
    return (await gateway.items<Sent<HookOverview>>('/admin/v1/hooks', {}, MOST_HOOKS)).map((hook) => ({
      ...hook,
      failing_since: dateOf(hook.failing_since),
      created_at: new Date(hook.created_at),
    }));
  const { withHooks } = await import('../with-areas.js');
  return withHooks(context, 'read', (admin) => admin.overview());
}

/** The same. Those of a gateway have the number that `redeliver` takes. */
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
  const { withHooks } = await import('../with-areas.js');
  return withHooks(context, 'read', async (admin) => {
    if ((await admin.find(hook)) === undefined) throw new HookNotFound();
    return admin.recent(hook, status ?? null, limit);
  });
}

type ShownDelivery = DeliveryOverview & { readonly id?: string };
/** As it comes in JSON. */
type Sent<Of> = {
  readonly [Key in keyof Of]: Of[Key] extends Date | null
    ? null extends Of[Key]
      ? string | null
      : string
    : Of[Key];
};

const dateOf = (moment: string | null): Date | null => (moment === null ? null : new Date(moment));

function addReplay(hooks: Command, context: CommandContext): void {
  hooks
    .command('replay')
    .description(
      'send again, in order, what failed or waits for its next attempt; reactivates a webhook that was given up',
    )
    .argument('<hook-id>', 'its id')
    .option('--since <time>', 'only events of the last while, such as 24h or 3d', agoArgument)
    .option('--event <event-id>', 'only this event')
    .option('--delivered', 'also what was delivered already')
    .option('--json', 'print an object')
    .action(async (hookId: string, { since, event, delivered, json }: ReplayOptions) => {
      const { withHooks } = await import('../with-areas.js');
      const request = { since: since ?? new Date(0), eventId: event ?? null, delivered: delivered === true };
      const count = await withHooks(context, 'change', async (admin) => {
        const replayed = await admin.replay(hookId, request);
        if (replayed === undefined)
          throw (await admin.find(hookId)) === undefined ? new HookNotFound() : new HookEnded();
        return replayed;
      });
      if (json) context.terminal.out(jsonText({ id: hookId, replayed: count }));
      else context.terminal.err(`${count} deliveries go out again; the webhook is active.\n`);
    });
}

function addRotateSecret(hooks: Command, context: CommandContext): void {
  hooks
    .command('rotate-secret')
    .description('give a webhook a new secret and print it alone; the old one also signs for a while')
    .argument('<hook-id>', 'its id')
    .addOption(
      new Option('--keep-old <time>', 'how long, such as 24h or 0s')
        .argParser(secondsArgument)
        .default(DAY_SECS, '24h'),
    )
    .option('--json', 'print an object instead of the secret alone')
    .action(async (hookId: string, { keepOld, json }: RotateOptions) => {
      const { withHookSecrets } = await import('../with-areas.js');
      const secret = newWebhookSecret();
      const isThere = await withHookSecrets(context, (store) => store.rotate(hookId, secret, keepOld));
      if (!isThere) throw new HookNotFound();
      context.terminal.out(json ? jsonText({ id: hookId, secret }) : `${secret}\n`);
      context.terminal.err('It signs from now on and is shown only this once.\n');
    });
}

function addPing(hooks: Command, context: CommandContext): void {
  hooks
    .command('ping')
    .description('send a hook.ping event to a webhook and wait for its response')
    .argument('<hook-id>', 'its id')
    .option('--json', 'print its delivery as an object')
    .action(async (hookId: string, options: { readonly json?: true }) => {
      const { withHooks } = await import('../with-areas.js');
      const delivery = await withHooks(context, 'change', (admin) => ping(admin, hookId));
      const { terminal } = context;
      if (options.json) terminal.out(jsonText(delivery));
      else terminal.err(pingSentence(delivery));
      if (delivery.status !== 'delivered') throw new CommandFailed();
    });
}

function pingSentence(delivery: DeliveryOverview): string {
  const { event_id: id, status, attempts } = delivery;
  if (status === 'delivered') return `${id} was answered with ${lastOf(delivery)}.\n`;
  return `${id}: ${attempts === 0 ? 'has not been sent yet: does a gateway run?' : lastOf(delivery)}\n`;
}

/**
 * Returns the delivery after its first attempt, or unsent after 20 s.
 * @throws HookNotFound, HookEnded, or HookGivenUp for a hook that gets no events any more
 */
async function ping(admin: HookAdmin, hookId: string): Promise<DeliveryOverview> {
  const eventId = await admin.ping(hookId);
  if (eventId === undefined) throw await reasonForNoPing(admin, hookId);
  for (let waitedMs = 0; ; waitedMs += PING_POLL_MS) {
    const delivery = await admin.delivery(eventId, hookId);
    if (delivery === undefined) throw new HookNotFound();
    if (delivery.attempts > 0 || waitedMs >= PING_TIMEOUT_MS) return delivery;
    await sleep(PING_POLL_MS);
  }
}

async function reasonForNoPing(admin: HookAdmin, hookId: string): Promise<Error> {
  const hook = await admin.find(hookId);
  if (hook === undefined) return new HookNotFound();
  return hook.inactive_reason === 'token_revoked'
    ? new HookEnded()
    : new HookGivenUp(hookId, hook.inactive_reason);
}

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

/** Result of the last attempt: the HTTP status, or the error that prevented a response. */
function lastOf({ last_status: status, last_error: error }: DeliveryOverview): string {
  return status === null ? (error ?? '-') : String(status);
}

function stateOf({ active, inactive_reason: reason, failing_since: failing }: HookOverview): string {
  if (!active) return `given up (${reason ?? 'unknown'})`;
  return failing === null ? 'active' : `failing since ${second(failing)}`;
}

/** `2026-01-31 14:05:09Z` */
function second(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
