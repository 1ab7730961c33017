import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { DeliveryOverview, HookAdmin } from '../../../areas/hooks/hook-admin.js';
import { HookEnded, HookGivenUp, HookNotFound } from '../../../areas/hooks/hooks.errors.js';
import { newWebhookSecret } from '../../../common/text/webhook-secret.js';
import { inApplication } from '../../application.js';
import { agoArgument, secondsArgument } from '../../arguments.js';
import type { CommandContext } from '../../command-context.js';
import { CommandFailed } from '../../exit-codes.js';
import { jsonText } from '../../terminal-text.js';

const DAY_SECS = 86_400;
/** How long `ping` waits: longer than an attempt may take. */
const PING_TIMEOUT_MS = 20_000;
const PING_POLL_MS = 200;

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

/** `hooks replay`, `hooks rotate-secret` and `hooks ping`: what operators repair. */
export function addHookRepairCommands(hooks: Command, context: CommandContext): void {
  addReplay(hooks, context);
  addRotateSecret(hooks, context);
  addPing(hooks, context);
}

function addReplay(hooks: Command, context: CommandContext): void {
  hooks
    .command('replay')
    .description(
      'send again, in order, what failed or waits for its next attempt; reactivates a webhook that was given up',
    )
    .argument('<hook-id>', 'its id')
    .option('--since <time>', 'only events newer than this, such as 24h or 3d', agoArgument)
    .option('--event <event-id>', 'only this event')
    .option('--delivered', 'also what was delivered already')
    .option('--json', 'print an object')
    .action(async (hookId: string, { since, event, delivered, json }: ReplayOptions) => {
      const { HookAdmin } = await import('../../../areas/hooks/hook-admin.js');
      const request = { since: since ?? new Date(0), eventId: event ?? null, delivered: delivered === true };
      const count = await inApplication(context, 'change', (app) =>
        app.get(HookAdmin).replay(hookId, request),
      );
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
      const { HookStore } = await import('../../../areas/hooks/hook.store.js');
      const secret = newWebhookSecret();
      const isThere = await inApplication(context, { access: 'change', opens: 'secrets' }, (app) =>
        app.get(HookStore).rotate(hookId, secret, keepOld),
      );
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
      const { HookAdmin } = await import('../../../areas/hooks/hook-admin.js');
      const delivery = await inApplication(context, 'change', (app) => ping(app.get(HookAdmin), hookId));
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

/** Result of the last attempt: the HTTP status, or the error that prevented a response. */
export function lastOf({ last_status: status, last_error: error }: DeliveryOverview): string {
  return status === null ? (error ?? '-') : String(status);
}
