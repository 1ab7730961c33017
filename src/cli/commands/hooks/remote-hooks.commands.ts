import type { Command } from 'commander';
import { newWebhookSecret } from '../../../common/text/webhook-secret.js';
import { SUBSCRIBABLE } from '../../../platform/events/event-catalogue.js';
import { namesArgument } from '../../arguments.js';
import type { CommandContext } from '../../command-context.js';
import { act, type JsonOption } from '../../remote/list-command.js';
import { gatewayOf } from '../../remote/with-gateway.js';
import { jsonText, printable } from '../../terminal-text.js';

interface CreateOptions extends JsonOption {
  readonly events: readonly string[];
  readonly unsigned?: true;
}

interface Created {
  readonly id: string;
  readonly url: string;
}

/** `hooks create`, `delete` and `redeliver`: what is done as a caller of a running gateway, because a webhook is its token's. */
export function addRemoteHookCommands(hooks: Command, context: CommandContext): void {
  hooks
    .command('create')
    .description('register a webhook at a running gateway (--url) and print its new secret alone')
    .argument('<address>', 'where events are delivered')
    .option('--events <names>', 'which, with commas, such as session.created,message.*', namesArgument, ['*'])
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
