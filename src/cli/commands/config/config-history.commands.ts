import { type Command, InvalidArgumentError } from 'commander';
import { type ConfigChange, shownContent } from '../../../areas/config/config-change.js';
import { inApplication } from '../../application.js';
import { countArgument } from '../../arguments.js';
import { type CommandContext, operatorActor } from '../../command-context.js';
import { jsonText } from '../../terminal-text.js';

const ROLLBACK_EXAMPLES = `
Examples:
  agent-gateway config rollback        undoes the newest change made at run time
  agent-gateway config rollback 12     restores everything as it was right after revision 12; 0 is before all changes`;

const CHANGING = { access: 'change', opens: 'configuration' } as const;

/** `config history` and `config rollback`: the changes made at run time, which are in the database. */
export function addConfigHistoryCommands(config: Command, context: CommandContext): void {
  addHistory(config, context);
  addRollback(config, context);
}

function addHistory(config: Command, context: CommandContext): void {
  config
    .command('history')
    .description('show who changed what at run time, newest first; secrets as ***REDACTED***')
    .option('--limit <number>', 'how many changes to show', countArgument, 20)
    .option('--json', 'print an object, with the values')
    .action(async (options: { readonly limit: number; readonly json?: true }) => {
      const { ConfigStore } = await import('../../../areas/config/config.store.js');
      const changes = await inApplication(context, 'read', (app) => app.get(ConfigStore).page(options.limit));
      const { terminal } = context;
      if (options.json) {
        terminal.out(jsonText({ changes: changes.map(changeJson) }));
      } else if (changes.length === 0) terminal.err('Nothing was changed at run time.\n');
      else terminal.out(changes.map(changeLine).join(''));
    });
}

function addRollback(config: Command, context: CommandContext): void {
  config
    .command('rollback')
    .description('undo changes made at run time; takes effect on every gateway of the database within 1.5 s')
    .argument('[revision]', 'from "config history"', revisionArgument)
    .option('--json', 'print an object')
    .addHelpText('after', ROLLBACK_EXAMPLES)
    .action(async (revision: bigint | undefined, options: { readonly json?: true }) => {
      const { Configuration } = await import('../../../areas/config/configuration.js');
      // Access to the database implies every right.
      const actor = { name: operatorActor(), tokenId: null, maySetSecurity: true };
      const { changed: keys } = await inApplication(context, CHANGING, (app) =>
        app.get(Configuration).rollBack(actor, revision),
      );
      if (options.json) {
        context.terminal.out(jsonText({ changed: keys }));
        return;
      }
      const sentence = keys.length === 0 ? 'Nothing had to be changed.' : `Changed back: ${keys.join(', ')}.`;
      context.terminal.err(`${sentence}\n`);
    });
}

function revisionArgument(text: string): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('It is a number; "config history" shows it.');
}

const MAX_KEYS = 4;

/** A change as `config history --json` shows it; null where there is no override. */
function changeJson(change: ConfigChange): Readonly<Record<string, unknown>> {
  const { revision, action, actor, changedAt, edits } = change;
  return {
    revision: Number(revision),
    changed_at: changedAt.toISOString(),
    action,
    actor: actor.name,
    token_id: actor.tokenId,
    keys: edits.map(({ key, before, after }) => ({
      key,
      before: shownContent(before),
      after: shownContent(after),
    })),
  };
}

/** One line per change, for people: revision, time, action, actor and the first four keys. */
function changeLine({ revision, action, actor, changedAt, edits }: ConfigChange): string {
  const keys = edits.map(({ key }) => key);
  const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : '';
  const when = changedAt.toISOString().slice(0, 19).replace('T', ' ');
  return `${revision.padStart(5)}  ${when}Z  ${action.padEnd(8)}  ${actor.name}: ${keys.slice(0, MAX_KEYS).join(', ')}${more}\n`;
}
