import { type Command, InvalidArgumentError } from 'commander';
import type { ConfigChange } from '../../areas/config/config-change.js';
import type { OverrideContent } from '../../platform/settings/candidate-builder.js';
import { readAt } from '../../platform/settings/dotted-path.js';
import { markLabels, needsSecurity, securityLabel } from '../../platform/settings/key-marks.js';
import { redactedTree, redactionMarker } from '../../platform/settings/redaction.js';
import { type LoadedSettings, loadSettings, sourcesOf } from '../../platform/settings/settings-loader.js';
import { jsonSchema, settingValues } from '../../platform/settings/settings-tree.js';
import { InvalidSettings } from '../../platform/settings/settings-validation.js';
import { tomlValue } from '../../platform/settings/value-text.js';
import { countArgument } from '../arguments.js';
import type { CommandContext } from '../command-context.js';
import { CommandFailed } from '../exit-codes.js';
import { jsonText } from '../terminal-text.js';

const ROLLBACK_EXAMPLES = `
Examples:
  agent-gateway config rollback        undoes the newest change made at run time
  agent-gateway config rollback 12     restores everything as it was right after revision 12; 0 is before all changes`;

/** `config …`: what the file and the environment set, and the changes made at run time, which are in the database. */
export function addConfigCommands(program: Command, context: CommandContext): void {
  const config = program.command('config').description('the settings, and changes made at run time');
  addCheck(config, context);
  addShow(config, context);
  addSchema(config, context);
  addHistory(config, context);
  addRollback(config, context);
}

function addCheck(config: Command, context: CommandContext): void {
  config
    .command('check')
    .description('report everything that would stop a start with these settings; starts nothing')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      if (options.json) await checkAsJson(context);
      else await check(context);
    });
}

async function check(context: CommandContext): Promise<void> {
  const { file, sources, warnings } = await checked(context);
  const { terminal } = context;
  for (const warning of warnings) terminal.err(`warning: ${warning}\n`);
  const set = [...sources.values()].filter(({ layer }) => layer !== 'default').length;
  const from = file === undefined ? 'the environment alone' : `${file} and the environment`;
  terminal.out(`The configuration is valid: ${set} of ${sources.size} keys are set, from ${from}.\n`);
}

/** Settings with which a gateway can start, and what it would warn of. @throws InvalidSettings */
async function checked(context: CommandContext): Promise<LoadedSettings> {
  const [{ checkedSettings }, { agentWarnings }] = await Promise.all([
    import('../checked-settings.js'),
    import('../agent-offer.js'),
  ]);
  const loaded = checkedSettings(context);
  return { ...loaded, warnings: [...loaded.warnings, ...(await agentWarnings(loaded.settings))] };
}

async function checkAsJson(context: CommandContext): Promise<void> {
  const { terminal } = context;
  try {
    const { file = null, warnings } = await checked(context);
    terminal.out(jsonText({ valid: true, file, warnings, problems: [] }));
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    terminal.out(jsonText({ valid: false, problems: error.problems }));
    throw new CommandFailed();
  }
}

function addShow(config: Command, context: CommandContext): void {
  config
    .command('show')
    .description('print every key with its value and where it comes from; secrets as ***REDACTED***')
    .option('--stored', 'include changes made at run time, which are in the database')
    .option('--json', 'print an object that also says what changing each key needs')
    .action(async (options: { readonly stored?: true; readonly json?: true }) => {
      const { environment, terminal } = context;
      const file = loadSettings({ environment, file: context.configFile() });
      const loaded = options.stored ? { ...file, ...(await withStored(context)) } : file;
      terminal.out(options.json ? settingsJson(loaded) : settingsLines(loaded));
      for (const warning of loaded.warnings) terminal.err(`warning: ${warning}\n`);
    });
}

async function withStored(context: CommandContext): Promise<Pick<LoadedSettings, 'settings' | 'sources'>> {
  const { withConfiguration } = await import('../with-configuration.js');
  return withConfiguration(context, 'read', ({ configuration }) => {
    const { settings, layers, overrides } = configuration.live.snapshot;
    return Promise.resolve({ settings, sources: sourcesOf(settings, [...layers, overrides]) });
  });
}

function settingsJson({ settings, file, sources }: LoadedSettings): string {
  const shown = {
    file: file ?? null,
    settings: redactedTree(settings),
    sources: Object.fromEntries(sources),
    marks: Object.fromEntries(
      settingValues(settings)
        .map(({ key, node }) => [key, markLabels(node.marks)] as const)
        .filter(([, marks]) => marks.length > 0),
    ),
  };
  return jsonText(shown);
}

function settingsLines({ settings, sources }: LoadedSettings): string {
  const shown = redactedTree(settings);
  const lines = settingValues(settings).map(({ key, node }) => {
    const { layer, where } = sources.get(key) ?? { layer: 'default', where: '' };
    const why = needsSecurity(node.marks) ? `; ${securityLabel}` : '';
    return `${key} = ${tomlValue(readAt(shown, node.path))}  # ${where || layer}${why}\n`;
  });
  return lines.join('');
}

function addSchema(config: Command, { terminal }: CommandContext): void {
  config
    .command('schema')
    .description('print the JSON Schema of gateway.toml, for editors')
    .action(() => terminal.out(jsonText(jsonSchema())));
}

function addHistory(config: Command, context: CommandContext): void {
  config
    .command('history')
    .description('show who changed what at run time, newest first; secrets as ***REDACTED***')
    .option('--limit <number>', 'how many changes to show', countArgument, 20)
    .option('--json', 'print an object, with the values')
    .action(async (options: { readonly limit: number; readonly json?: true }) => {
      const [{ withDatabase }, { ConfigStore }] = await Promise.all([
        import('../with-database.js'),
        import('../../areas/config/config.store.js'),
      ]);
      const changes = await withDatabase(context, 'read', ({ database }) =>
        new ConfigStore(database).page(options.limit),
      );
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
      const [{ withConfiguration }, { operatorActor }] = await Promise.all([
        import('../with-configuration.js'),
        import('../command-context.js'),
      ]);
      // Access to the database implies every right.
      const actor = { name: operatorActor(), tokenId: null, maySetSecurity: true };
      const { changed: keys } = await withConfiguration(context, 'change', ({ configuration }) =>
        configuration.rollBack(actor, revision),
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
    keys: edits.map(({ key, before, after }) => ({ key, before: shown(before), after: shown(after) })),
  };
}

/** One line per change, for people: revision, time, action, actor and the first four keys. */
function changeLine({ revision, action, actor, changedAt, edits }: ConfigChange): string {
  const keys = edits.map(({ key }) => key);
  const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : '';
  const when = changedAt.toISOString().slice(0, 19).replace('T', ' ');
  return `${revision.padStart(5)}  ${when}Z  ${action.padEnd(8)}  ${actor.name}: ${keys.slice(0, MAX_KEYS).join(', ')}${more}\n`;
}

function shown(content: OverrideContent | null): unknown {
  if (content === null) return null;
  return 'sealed' in content ? redactionMarker : content.value;
}
